//! The queue for a lock: nodes that ZooKeeper numbers, and that end with the session that created them.

use std::sync::Arc;

use tokio::runtime::Handle;
use uuid::Uuid;
use zookeeper_client::{Client, OneshotWatcher};

use super::session::{self, CHILDREN, CREATE, CREATE_QUEUE, DELETE, WATCH};
use crate::domain::Error;
use crate::probe::{Command, Probe, StepResult, StepValue};

/// The predecessor of a node.
pub(super) enum Ahead {
    Nobody,
    /// The node just before this one.
    One(String),
    Gone,
}

/// A place in a queue. Dropping it leaves the queue, in the background.
pub(super) struct QueueNode {
    queue: Queue,
    /// The prefix of the node's name: it finds the node when the response to its creation was lost.
    owner: String,
    /// The node's full name, once it is known.
    node: Option<String>,
    /// The probe for the cleanup on drop; `None` when there is nothing to clean up.
    probe: Option<Probe>,
}

/// The parent of the queue's nodes, and the session for its requests.
#[derive(Clone)]
pub(super) struct Queue {
    pub(super) session: Arc<Client>,
    pub(super) path: String,
}

impl QueueNode {
    /// Joins the queue at its end.
    pub(super) async fn take(queue: Queue, probe: &Probe) -> Result<Self, Error> {
        let mut place = Self {
            queue,
            owner: Uuid::new_v4().simple().to_string(),
            node: None,
            probe: Some(probe.clone()),
        };
        let Queue { session, path } = &place.queue;
        loop {
            let create = Command::new(session::create(session, path, &place.owner));
            let words = |node: &Option<String>| if node.is_some() { "in the queue" } else { "no queue yet" };
            place.node = probe.step(&CREATE, path, create, words).await?;
            if place.node.is_some() {
                return Ok(place);
            }
            let create = Command::new(session::create_queue(session, path));
            probe.step(&CREATE_QUEUE, path, create, |()| "created").await?;
        }
    }

    /// Whether the session is known to live, and the node with it.
    pub(super) fn is_connected(&self) -> bool {
        session::is_connected(&self.queue.session)
    }

    /// Returns the predecessor of this node.
    pub(super) async fn ahead(&self, probe: &Probe) -> Result<Ahead, Error> {
        let first = |nodes: &Vec<String>| {
            let first = nodes.iter().min_by_key(|node| number(node));
            let is_own = first.is_some_and(|node| node.starts_with(&self.owner));
            StepValue::Taken(is_own).with(in_words(nodes))
        };
        let mut nodes = self.queue.nodes(probe, first).await?;
        nodes.sort_by_key(|node| number(node));
        let own = nodes.iter().position(|node| node.starts_with(&self.owner));
        Ok(match own {
            None => Ahead::Gone,
            Some(0) => Ahead::Nobody,
            Some(own) => Ahead::One(nodes.swap_remove(own - 1)),
        })
    }

    /// Watches the end of a node; `None` when it is gone already.
    pub(super) async fn watch(&self, node: &str, probe: &Probe) -> Result<Option<OneshotWatcher>, Error> {
        let Queue { session, path } = &self.queue;
        let watch = Command::new(session::watch(session, path, node));
        let words = |watcher: &Option<_>| if watcher.is_some() { "watched" } else { "gone" };
        probe.step(&WATCH, &node, watch, words).await
    }

    /// Leaves the queue. False when the node was gone before.
    pub(super) async fn leave(mut self, probe: &Probe) -> Result<bool, Error> {
        let node = self.node.as_deref().unwrap_or_default();
        let left = self.queue.delete(node, probe).await?;
        self.probe = None;
        Ok(left)
    }
}

impl Drop for QueueNode {
    /// Deletes the node. The session lives on for other purchases, and the node would, too.
    fn drop(&mut self) {
        let (Some(probe), Ok(runtime)) = (self.probe.take(), Handle::try_current()) else {
            return;
        };
        let (queue, owner, node) = (self.queue.clone(), self.owner.clone(), self.node.take());
        runtime.spawn(async move {
            if let Err(error) = queue.clear(&owner, node, &probe).await {
                tracing::warn!(%error, "a place in the queue stays until the session ends");
            }
        });
    }
}

impl Queue {
    async fn nodes<W: Into<StepResult>>(
        &self,
        probe: &Probe,
        words: impl FnOnce(&Vec<String>) -> W,
    ) -> Result<Vec<String>, Error> {
        let children = Command::new(session::children(&self.session, &self.path));
        probe.step(&CHILDREN, &self.path, children, words).await
    }

    async fn delete(&self, node: &str, probe: &Probe) -> Result<bool, Error> {
        let delete = Command::new(session::delete(&self.session, &self.path, node));
        let words = |deleted: &bool| if *deleted { "deleted" } else { "gone before" };
        probe.step(&DELETE, &node, delete, words).await
    }

    /// Deletes the node of `owner`. Its name is unknown if the response to its creation was lost.
    async fn clear(&self, owner: &str, node: Option<String>, probe: &Probe) -> Result<(), Error> {
        let found = match node {
            Some(node) => Some(node),
            None => {
                let mut nodes = self.nodes(probe, |nodes| in_words(nodes)).await?.into_iter();
                nodes.find(|node| node.starts_with(owner))
            }
        };
        if let Some(node) = found {
            self.delete(&node, probe).await?;
        }
        Ok(())
    }

    /// Deletes all nodes. An operator asks for this, so it is not a step of a purchase.
    pub(super) async fn empty(&self) -> Result<(), Error> {
        for node in session::children(&self.session, &self.path).await? {
            session::delete(&self.session, &self.path, &node).await?;
        }
        Ok(())
    }
}

fn in_words(nodes: &[String]) -> String {
    format!("{} in the queue", nodes.len())
}

/// Returns the number that ZooKeeper gave the node. A node without one was not made by this lock, and sorts last.
fn number(node: &str) -> u64 {
    let number = node.rsplit_once('-').and_then(|(_, number)| number.parse().ok());
    number.unwrap_or(u64::MAX)
}
