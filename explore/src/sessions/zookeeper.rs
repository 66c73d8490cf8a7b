//! The sessions of ZooKeeper's lock: each node of a queue ends with the session that created it.

use anyhow::{Context, Result, ensure};
use stack::{ServiceKind, Stores};
use zookeeper_client::{Client, Error};

use super::queue;

/// A session of the explorer.
pub struct ZooKeeper(Client);

impl ZooKeeper {
    /// Connects to a server.
    ///
    /// # Errors
    /// When none was started, or it cannot be reached.
    pub async fn connect(stores: &Stores) -> Result<Self> {
        let url = stores
            .url(ServiceKind::ZooKeeper)
            .context("ZooKeeper was not started")?;
        let server = url.strip_prefix("zookeeper://").unwrap_or(url);
        Ok(Self(Client::connect(server).await.context("ZooKeeper")?))
    }

    /// Returns the paths of the nodes of the queue for the lock of an item, the first one first.
    ///
    /// # Errors
    /// When ZooKeeper does not answer.
    pub async fn nodes(&self, item: &str) -> Result<Vec<String>> {
        let path = format!("/{}", queue(item));
        // The server that is asked may not have heard yet of what another one has answered.
        match self.0.sync(&path).await {
            Ok(()) | Err(Error::NoNode) => {}
            Err(error) => return Err(error).context("ZooKeeper"),
        }
        let mut nodes = match self.0.list_children(&path).await {
            Err(Error::NoNode) => return Ok(Vec::new()),
            nodes => nodes.context("ZooKeeper")?,
        };
        nodes.sort_by(|one, another| number(one).cmp(number(another)));
        Ok(nodes.iter().map(|node| format!("{path}/{node}")).collect())
    }

    /// Returns the nodes of the session that holds the lock.
    ///
    /// # Errors
    /// When ZooKeeper does not answer.
    pub async fn held_together(&self, item: &str) -> Result<Vec<String>> {
        let (mut holder, mut held) = (None, Vec::new());
        for node in self.nodes(item).await? {
            let Some(stat) = self.0.check_stat(&node).await.context("ZooKeeper")? else {
                continue;
            };
            if *holder.get_or_insert(stat.ephemeral_owner) == stat.ephemeral_owner {
                held.push(node);
            }
        }
        Ok(held)
    }

    /// Deletes the nodes of the session that holds the lock, as its end does. The client of the instance is not told so: it has
    /// not noticed the end yet, and its next purchase has a session.
    ///
    /// # Errors
    /// When nobody holds the lock, or ZooKeeper does not answer.
    pub async fn end(&self, item: &str) -> Result<()> {
        let held = self.held_together(item).await?;
        ensure!(!held.is_empty(), "nobody holds the lock");
        // The first one last: before that nobody has the lock.
        for node in held.iter().rev() {
            self.0.delete(node, None).await.context("ZooKeeper")?;
        }
        Ok(())
    }
}

/// Returns the number that ZooKeeper gave the node: ten digits.
fn number(node: &str) -> &str {
    node.rsplit_once('-').map_or(node, |(_, number)| number)
}
