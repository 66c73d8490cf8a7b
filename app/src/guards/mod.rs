//! The guards around read-check-write. Each has one file, and its `mod` line here.

mod lock_key;
mod redis_lock;

// In the order of the lessons: each guard repairs what the one before it lacks.
mod none;
mod mutex;
mod setnx;
mod setnx_no_finally;
mod lock_table_bare;
mod token;
mod setnx_expire;
mod set_px;
mod version_lock;
mod getset_time;
mod expiry_value;
mod expiry_value_mixed_units;
mod token_get_del;
mod token_watch;
mod token_count;
mod lease_no_watchdog;
mod spin;
mod unlock_before_write;
mod semaphore;
mod read_lock;
mod lock_table;
mod interval;
mod once_per_buyer;
mod watchdog;
mod watchdog_checked;
mod fair;
mod redlock;
mod fenced;
mod baton;
mod named_lock;
mod zookeeper;
mod zookeeper_checked;
mod etcd_same_session;
mod etcd;
mod etcd_checked;

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
    /// Its name, its summary and its claims.
    pub mechanism: Mechanism,
    /// The steps it takes.
    pub steps: &'static [Step],
    /// Whether a holder may take the lock again. Otherwise it would wait for itself, until its time is over.
    pub reentrant: bool,
    /// Opens the guard at its first use, for sales in that store.
    pub open: for<'a> fn(&'a World, &'static str) -> Opening<'a>,
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
    /// Takes the lock of `item`, and waits for it at most as long as configured. `None` when it was not free in time.
    ///
    /// # Errors
    /// When the lock's store cannot be reached. A lock that another holder has is not an error.
    async fn lock(&self, item: &Name, probe: &Probe) -> Result<Option<Box<dyn Held>>, Error>;

    /// Deletes all that the guard stores of an item whose sale is closed, the lock included, even if it is held.
    ///
    /// # Errors
    /// When the lock's store cannot be reached.
    async fn forget(&self, _item: &Name) -> Result<(), Error> {
        Ok(())
    }
}

/// A held lock. Dropped without a release, it stays until its lease ends, if it has one.
#[async_trait]
pub trait Held: Send + Sync {
    /// The fencing token, if the lock has one: by it a store tells this holder from a later one.
    fn fence(&self) -> Option<Fence> {
        None
    }

    /// Called after the read of the stock, before the business time.
    ///
    /// # Errors
    /// When the lock service fails. Nothing was written yet.
    async fn after_read(&mut self, _probe: &Probe) -> Result<(), Error> {
        Ok(())
    }

    /// Called before the write of the stock. False when the lock is known to be lost: then nothing is written. A lock
    /// that cannot tell returns true.
    ///
    /// # Errors
    /// When the guard needs the lock's store for this and cannot reach it.
    async fn before_write(&mut self, _probe: &Probe) -> Result<bool, Error> {
        Ok(true)
    }

    /// Whether the lock is also released when the purchase ends with an error.
    fn is_released_after_error(&self) -> bool {
        true
    }

    /// Releases the lock.
    ///
    /// # Errors
    /// When the lock's store cannot be reached: the lock then stays until its lease ends, if it has one.
    async fn release(self: Box<Self>, probe: &Probe) -> Result<Released, Error>;
}

/// How a held lock ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Released {
    /// The lock was held until the release.
    InTime,
    /// The lease ended before the release: another holder may have been inside at the same time.
    TooLate,
}
