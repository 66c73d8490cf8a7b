//! How a purchase is decided. One file each; [`catalogue`] is the one list.

mod compare_num;
mod conditional;
mod guarded;
mod lua;
mod watch_multi;

use std::sync::Arc;

use async_trait::async_trait;

use crate::guards::{self, Timeouts};
use crate::probe::{Observers, Probe, Step};
use crate::sale::{Error, Mechanism, Name, Outcome, Purchase};
use crate::stores::Stores;

/// A way to sell.
#[async_trait]
pub trait Strategy: Send + Sync {
    /// The mechanism: what it is and what it claims.
    fn about(&self) -> Mechanism;

    /// The store it sells from: `redis` or `sql`.
    fn store(&self) -> &'static str;

    /// What it needs running besides its own store.
    fn needs(&self) -> &'static [&'static str] {
        &[]
    }

    /// Every step it can take, so that a fault can name it.
    fn steps(&self) -> Vec<Step>;

    /// Backoff to sell. A wait on the way is bounded and ends in [`Outcome::Busy`].
    ///
    /// # Errors
    /// When a store fails: whether the sale took place is then unknown.
    async fn buy(&self, purchase: &Purchase, probe: &Probe) -> Result<Outcome, Error>;

    /// Forgets what it keeps of an item besides stock and orders, when the sale is closed.
    ///
    /// # Errors
    /// When what holds it cannot be reached.
    async fn forget(&self, _item: &Name) -> Result<(), Error> {
        Ok(())
    }
}

/// The full name of a strategy: `mechanism@store`.
pub fn name(strategy: &dyn Strategy) -> String {
    format!("{}@{}", strategy.about().name, strategy.store())
}

/// Every strategy, in the order of the lessons: first each guard on each store, then what needs no guard.
/// What works beside purchases does so under the eyes of `observers`.
pub fn catalogue(stores: &Stores, timeouts: Timeouts, observers: &Observers) -> Vec<Arc<dyn Strategy>> {
    let mut all: Vec<Arc<dyn Strategy>> = Vec::new();
    for guard in guards::all(&stores.redis, timeouts, observers) {
        for stock in stores.all() {
            all.push(Arc::new(guarded::Guarded::new(guard.clone(), stock)));
        }
    }
    all.push(Arc::new(compare_num::CompareNum::new(&stores.sql, timeouts)));
    all.push(Arc::new(conditional::Conditional::new(&stores.sql)));
    all.push(Arc::new(watch_multi::WatchMulti::new(&stores.redis, timeouts)));
    all.push(Arc::new(lua::Lua::new(&stores.redis)));
    all
}
