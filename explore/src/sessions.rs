//! Sessions that end while their process goes on: the lock of the holder ends with them.

mod etcd;
mod named_lock;
mod zookeeper;

use anyhow::Result;
use stack::Stores;

use self::etcd::Etcd;
use self::named_lock::NamedLocks;
use self::zookeeper::ZooKeeper;

/// What keeps the sessions whose end ends a lock.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SessionsOf {
    /// MariaDB: a session is the connection that holds a named lock.
    Sql,
    /// etcd: a session is a lease.
    Etcd,
    /// ZooKeeper, which has a word for it.
    ZooKeeper,
}

/// The sessions that hold the locks of one strategy.
pub enum Sessions {
    None,
    NamedLocks(NamedLocks),
    Etcd(Etcd),
    ZooKeeper(ZooKeeper),
}

impl Sessions {
    /// Connects to what keeps the sessions.
    ///
    /// # Errors
    /// When it cannot be reached.
    pub async fn connect(of: Option<SessionsOf>, stores: &Stores) -> Result<Self> {
        Ok(match of {
            None => Self::None,
            Some(SessionsOf::Sql) => Self::NamedLocks(NamedLocks::connect(stores).await?),
            Some(SessionsOf::Etcd) => Self::Etcd(Etcd::new(stores)?),
            Some(SessionsOf::ZooKeeper) => Self::ZooKeeper(ZooKeeper::connect(stores).await?),
        })
    }

    /// Returns whether a session holds the lock of an item.
    ///
    /// # Errors
    /// When what keeps the sessions does not answer.
    pub async fn is_held(&mut self, item: &str) -> Result<bool> {
        match self {
            Self::None => Ok(false),
            Self::NamedLocks(locks) => Ok(locks.holder(item).await?.is_some()),
            Self::Etcd(etcd) => Ok(!etcd.held_together(item).await?.is_empty()),
            Self::ZooKeeper(zookeeper) => Ok(!zookeeper.held_together(item).await?.is_empty()),
        }
    }

    /// Returns how many places the queue for the lock of an item has, that of the holder among them; `None` where there is no such
    /// queue.
    ///
    /// # Errors
    /// When what keeps the sessions does not answer.
    pub async fn places(&self, item: &str) -> Result<Option<usize>> {
        Ok(match self {
            Self::None | Self::NamedLocks(_) => None,
            Self::Etcd(etcd) => Some(etcd.keys(item).await?.len()),
            Self::ZooKeeper(zookeeper) => Some(zookeeper.nodes(item).await?.len()),
        })
    }

    /// Ends the session that holds the lock of an item.
    ///
    /// # Errors
    /// When there is none, or what keeps the sessions does not answer.
    pub async fn end(&mut self, item: &str) -> Result<()> {
        match self {
            Self::None => anyhow::bail!("the strategy has no sessions"),
            Self::NamedLocks(locks) => locks.end(item).await,
            Self::Etcd(etcd) => etcd.end(item).await,
            Self::ZooKeeper(zookeeper) => zookeeper.end(item).await,
        }
    }
}

/// Returns the name under which the places in the queue for the lock of an item stand.
fn queue(item: &str) -> String {
    format!("lock:{{{item}}}")
}
