//! What can stand around read-check-write. One file each, and its `mod` line here.

mod lock_key;
mod redis_lock;

// In the order of the lessons: each guard repairs what the one before it lacks.
mod none;
mod mutex;
mod setnx;
mod lock_table_bare;
mod token;
mod setnx_expire;
mod set_px;
mod getset_time;
mod expiry_value;
mod token_get_del;
mod token_watch;
mod token_count;
mod lease_no_watchdog;
mod spin;
mod unlock_before_write;
mod lock_table;
mod interval;
mod watchdog;
mod fair;
mod redlock;
mod fenced;
mod baton;
mod named_lock;
mod zookeeper;
mod etcd;

use std::sync::Arc;

use async_trait::async_trait;
use futures_util::future::BoxFuture;

use crate::domain::{Error, Fence, Name};
use crate::mechanism::Mechanism;
use crate::probe::{Probe, Step};
use crate::world::World;

/// Every guard: the `ENTRY` of each module above, in their order.
pub const ALL: &[GuardEntry] = include!(concat!(env!("OUT_DIR"), "/guards.rs"));

/// A guard before it is opened.
pub struct GuardEntry {
    /// What it is and what it claims.
    pub mechanism: Mechanism,
    /// The steps it takes.
    pub steps: &'static [Step],
    /// Whether a purchase that holds the lock may take it once more. Where it may not it waits for itself in vain.
    pub reentrant: bool,
    /// Opens it, when it is first used.
    pub open: for<'a> fn(&'a World) -> Opening<'a>,
}

/// A guard that is being opened.
pub type Opening<'a> = BoxFuture<'a, Result<Arc<dyn Guard>, Error>>;

/// For [`GuardEntry::open`].
fn opened(guard: impl Guard + 'static) -> Result<Arc<dyn Guard>, Error> {
    Ok(Arc::new(guard))
}

/// A lock around read-check-write, for one item at a time.
#[async_trait]
pub trait Guard: Send + Sync {
    /// Waits for the lock of `item`, at most as long as the guard was told to. `None` when it did not come free.
    ///
    /// # Errors
    /// When the lock's store cannot be reached, which is not the same as a lock that somebody else holds.
    async fn lock(&self, item: &Name, probe: &Probe) -> Result<Option<Box<dyn Held>>, Error>;

    /// Forgets an item whose sale is closed, and its lock, whoever holds it.
    ///
    /// # Errors
    /// When the lock's store cannot be reached.
    async fn forget(&self, _item: &Name) -> Result<(), Error> {
        Ok(())
    }
}

/// A lock, while one holds it. Dropping it without release leaves the lock to its lease, if it has one.
#[async_trait]
pub trait Held: Send + Sync {
    /// The number by which a store tells this holder from a later one, where the lock gives one out.
    fn fence(&self) -> Option<Fence> {
        None
    }

    /// The stock was read; business time comes next.
    ///
    /// # Errors
    /// When the lock service fails. Nothing was written yet.
    async fn after_read(&mut self, _probe: &Probe) -> Result<(), Error> {
        Ok(())
    }

    /// The stock was read and is about to be written: whether to go on. No, when it is known by now that the lock was
    /// lost; a lock that cannot tell says yes.
    ///
    /// # Errors
    /// When the lock's store has to be asked and cannot be reached.
    async fn before_write(&mut self, _probe: &Probe) -> Result<bool, Error> {
        Ok(true)
    }

    /// Gives the lock back.
    ///
    /// # Errors
    /// When the lock's store cannot be reached: the lock then stays until its lease ends, if it has one.
    async fn release(self: Box<Self>, probe: &Probe) -> Result<Released, Error>;
}

/// What the end of a held lock looked like.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Released {
    /// The lock was ours until now.
    InTime,
    /// The lease had ended before: somebody else may have been inside at the same time.
    TooLate,
}
