//! Read, check, write, with a guard around them: the sale that every lock protects.
//!
//! ```text
//! lock          -- the guard's, see guards/
//! read          -- how many are left?
//! ...           -- business time
//! write, record -- the counter is set to the number read minus the quantity; the order is entered
//! release       -- after the commit: before it, the next holder would read the old stock
//! ```
//!
//! Cost: the guard's, one round trip to read, and one (Redis) or four (SQL) to write.

use std::sync::Arc;
use std::time::Instant;

use async_trait::async_trait;

use super::Strategy;
use crate::domain::{Error, Name, Outcome, Purchase};
use crate::guards::{Guard, Held, Released};
use crate::probe::Probe;
use crate::stores::{Fencing, Stock, Written};

pub(super) struct Guarded {
    guard: Arc<dyn Guard>,
    stock: Arc<dyn Stock>,
}

impl Guarded {
    pub(super) fn new(guard: Arc<dyn Guard>, stock: Arc<dyn Stock>) -> Self {
        Self { guard, stock }
    }

    async fn sell(&self, purchase: &Purchase, held: &mut dyn Held, probe: &Probe) -> Result<Outcome, Error> {
        let Some(found) = self.stock.read(purchase, probe).await? else {
            return Ok(Outcome::UnknownItem);
        };
        if let Some(order) = found.order {
            return Ok(Outcome::Repeated(order));
        }
        let remaining = found.left - i64::from(purchase.quantity);
        if remaining < 0 {
            return Ok(Outcome::SoldOut);
        }
        held.after_read(probe).await?;
        probe.work().await;
        if !held.before_write(probe).await? {
            return Ok(Outcome::Busy);
        }
        let seen = found.fence;
        let fencing = held.fence().map(|mine| Fencing { mine, seen });
        match self.stock.write(purchase, remaining, fencing, probe).await? {
            Written::Written => Ok(Outcome::Sold { remaining }),
            Written::Fenced => Ok(Outcome::Busy),
            Written::Closed => Ok(Outcome::UnknownItem),
            Written::Repeated => {
                // Two requests with one key met here: the order of the other is the answer to this one, too.
                let order = self.stock.read(purchase, probe).await?.and_then(|found| found.order);
                Ok(order.map_or(Outcome::UnknownItem, Outcome::Repeated))
            }
        }
    }
}

#[async_trait]
impl Strategy for Guarded {
    async fn buy(&self, purchase: &Purchase, probe: &Probe) -> Result<Outcome, Error> {
        let asked = Instant::now();
        let locked = self.guard.lock(&purchase.item, probe).await;
        probe.counts().lock_wait(asked.elapsed());
        let mut held = match locked {
            Ok(Some(held)) => held,
            Ok(None) => return Ok(Outcome::Busy),
            Err(error) => {
                // The state of the lock is unknown. But the stock was neither read nor written, so nothing was sold.
                tracing::warn!(%error, item = %purchase.item, "the lock could not be taken");
                return Ok(Outcome::Busy);
            }
        };
        let outcome = self.sell(purchase, held.as_mut(), probe).await;
        if outcome.is_err() && !held.is_released_after_error() {
            return outcome;
        }
        // The outcome stands, even if the release fails: the buyer must hear of a sale.
        match held.release(probe).await {
            Ok(Released::InTime) => {}
            Ok(Released::TooLate) => {
                probe.counts().lost_lease();
                tracing::warn!(item = %purchase.item, "the lease ended before the sale did");
            }
            Err(error) => tracing::warn!(%error, item = %purchase.item, "the lock was not released"),
        }
        outcome
    }

    async fn forget(&self, item: &Name) -> Result<(), Error> {
        self.guard.forget(item).await
    }
}
