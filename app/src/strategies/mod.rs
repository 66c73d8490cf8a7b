//! How a purchase is decided. One file each, and one list of those that need no guard; [`Catalogue`] has all of them.

mod catalogue;
mod guarded;

use std::sync::Arc;

use async_trait::async_trait;
use futures_util::future::BoxFuture;

pub use catalogue::{Catalogue, Entry, Listed};

use crate::mechanism::Mechanism;
use crate::probe::{Probe, Step};
use crate::reconciler::Pending;
use crate::sale::{Error, Name, Outcome, Purchase};
use crate::world::World;

/// The one list: each file with the entry in it, or with those that it has by other names.
macro_rules! list {
    ($($file:ident $([$($entry:ident),+])?,)*) => {
        $(mod $file;)*

        /// Every mechanism that needs no guard, in the order of the lessons; one that has several stores for each.
        const NATIVE: &[&[NativeEntry]] = &[$(entries!($file $([$($entry),+])?),)*];
    };
}

macro_rules! entries {
    ($file:ident) => {
        &[$file::ENTRY]
    };
    ($file:ident [$($entry:ident),+]) => {
        &[$($file::$entry),+]
    };
}

list! {
    lost_update,
    compare_num,
    compare_version,
    watch_multi,
    version_cas,
    lost_update_snapshot,
    for_update,
    for_update_unindexed,
    serializable,
    ignored_result,
    unlock_before_commit,
    unlock_before_commit_snapshot,
    retry_in_snapshot,
    watch_hot_hash,
    conditional,
    lua,
    decr_undo,
    segmented,
    combining [REDIS, SQL],
    dual_write,
    tcc,
    saga,
    outbox,
    two_phase,
    three_phase,
    at,
}

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
