//! How a purchase is decided. Those that need no guard have one file each, and its `mod` line here; [`Catalogue`] has all.

mod catalogue;
mod guarded;

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
mod ignored_result;
mod unlock_before_commit;
mod unlock_before_commit_snapshot;
mod retry_in_snapshot;
mod watch_hot_hash;
mod conditional;
mod lua;
mod decr_undo;
mod segmented;
mod combining;
mod dual_write;
mod tcc;
mod saga;
mod outbox;
mod two_phase;
mod three_phase;
mod at;

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

/// A way to sell.
#[async_trait]
pub trait Strategy: Send + Sync {
    /// Tries to sell. A wait on the way is bounded and ends in [`Outcome::Busy`].
    ///
    /// # Errors
    /// When a store fails: whether the sale took place is then unknown.
    async fn buy(&self, purchase: &Purchase, probe: &Probe) -> Result<Outcome, Error>;

    /// Whether the order of this purchase, which was seen in the ledger, may be taken back yet.
    ///
    /// # Errors
    /// When what would tell cannot be reached.
    async fn may_take_back(&self, _purchase: &Purchase) -> Result<bool, Error> {
        Ok(false)
    }

    /// Forgets what it keeps of an item besides stock and orders, when the sale is closed.
    ///
    /// # Errors
    /// When what holds it cannot be reached.
    async fn forget(&self, _item: &Name) -> Result<(), Error> {
        Ok(())
    }

    /// Purchases of an item that are neither done nor undone, where it takes several steps to end one.
    ///
    /// # Errors
    /// When what holds them cannot be reached.
    async fn pending(&self, _item: &Name) -> Result<Pending, Error> {
        Ok(Pending::default())
    }
}

/// A strategy that is being opened.
type Opening<'a> = BoxFuture<'a, Result<Arc<dyn Strategy>, Error>>;

/// Opens a strategy, when it is first used.
type Open = for<'a> fn(&'a World) -> Opening<'a>;

/// A mechanism that needs no guard, before it is opened.
struct NativeEntry {
    mechanism: Mechanism,
    /// Where stock and orders are: a store's name, or two with a `+` between them, stock first; `sql+sql` are two servers.
    store: &'static str,
    /// Every step it can take, so that a fault can name it.
    steps: &'static [Step],
    open: Open,
}

/// For [`NativeEntry::open`].
fn opened(strategy: impl Strategy + 'static) -> Result<Arc<dyn Strategy>, Error> {
    Ok(Arc::new(strategy))
}
