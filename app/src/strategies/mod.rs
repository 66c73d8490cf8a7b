//! The strategies. Each that needs no guard has one file, and its `mod` line here; [`Catalogue`] has all.

mod catalogue;
mod guarded;
mod messages;

// In the order of the lessons.
mod lost_update;
mod compare_num;
mod compare_version;
mod watch_multi;
mod version_cas;
mod lost_update_snapshot;
mod for_update;
mod for_update_unindexed;
mod serializable;
mod repeatable_read;
mod for_no_key_update;
mod advisory_xact_lock;
mod ignored_result;
mod unlock_before_commit;
mod unlock_before_commit_snapshot;
mod snapshot_before_lock;
mod retry_in_snapshot;
mod watch_hot_hash;
mod watch_hot_hash_checked;
mod conditional;
mod returning;
mod check_constraint;
mod unique_constraint;
mod unit_rows;
mod lua;
mod decr_undo;
mod segmented;
mod quota;
mod combining;
mod queue;
mod dual_write;
mod tcc;
mod saga;
mod outbox;
mod reservation;
mod half_message;
mod two_phase;
mod three_phase;
mod at;
mod at_for_update;

use std::sync::Arc;

use async_trait::async_trait;
use futures_util::future::BoxFuture;

pub use catalogue::{Catalogue, Entry, Listed};

use crate::domain::{Error, Name, Outcome, Purchase};
use crate::mechanism::Mechanism;
use crate::probe::{Probe, Step};
use crate::reconciler::Pending;
use crate::world::World;

/// Every mechanism that needs no guard, once for each store: the entries of the modules above, in their order.
const NATIVE: &[NativeEntry] = include!(concat!(env!("OUT_DIR"), "/strategies.rs"));

/// A strategy: a way to sell.
#[async_trait]
pub trait Strategy: Send + Sync {
    /// Tries to sell. Every wait is bounded and ends in [`Outcome::Busy`].
    ///
    /// # Errors
    /// When a store fails: then it is unknown whether the sale took place.
    async fn buy(&self, purchase: &Purchase, probe: &Probe) -> Result<Outcome, Error>;

    /// Whether the order of this purchase, which the ledger shows, may still be rolled back.
    ///
    /// # Errors
    /// When the store that knows cannot be reached.
    async fn may_take_back(&self, _purchase: &Purchase) -> Result<bool, Error> {
        Ok(false)
    }

    /// Deletes all that the strategy stores of an item besides stock and orders, when the sale is closed.
    ///
    /// # Errors
    /// When its store cannot be reached.
    async fn forget(&self, _item: &Name) -> Result<(), Error> {
        Ok(())
    }

    /// Counts the purchases of an item that are neither completed nor undone, for strategies of several steps.
    ///
    /// # Errors
    /// When their store cannot be reached.
    async fn pending(&self, _item: &Name) -> Result<Pending, Error> {
        Ok(Pending::default())
    }
}

/// A strategy that is being opened.
type Opening<'a> = BoxFuture<'a, Result<Arc<dyn Strategy>, Error>>;

/// Opens a strategy at its first use, for sales in that store.
type Open = for<'a> fn(&'a World, &'static str) -> Opening<'a>;

/// A mechanism that needs no guard, before it is opened.
struct NativeEntry {
    mechanism: Mechanism,
    /// The stores that it can sell from, each with stock and orders, or two joined by `+`, stock first; `sql+sql` are two
    /// servers.
    stores: &'static [&'static str],
    /// Every step that it can take, so that a fault can name it.
    steps: &'static [Step],
    open: Open,
}

/// For [`NativeEntry::open`].
fn opened(strategy: impl Strategy + 'static) -> Result<Arc<dyn Strategy>, Error> {
    Ok(Arc::new(strategy))
}
