//! Read, check, write, with a guard around them: the sale that every lock is there to protect.
//!
//! ```text
//! lock          -- the guard's, see guards/
//! read          -- how many are left?
//! ...           -- business time
//! write, record -- the counter is set to what was read minus the quantity; the order is entered
//! release       -- after the commit: before it, the next one would read the old stock
//! ```
//!
//! Cost: the guard's, one round trip to read, and one (Redis) or four (SQL) to write.

use std::sync::Arc;

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
                // Two requests with one key got here together: the order of the other one is this one's too.
                let order = self.stock.read(purchase, probe).await?.and_then(|found| found.order);
                Ok(order.map_or(Outcome::UnknownItem, Outcome::Repeated))
            }
        }
    }
}

#[async_trait]
impl Strategy for Guarded {
    async fn buy(&self, purchase: &Purchase, probe: &Probe) -> Result<Outcome, Error> {
        let mut held = match self.guard.lock(&purchase.item, probe).await {
            Ok(Some(held)) => held,
            Ok(None) => return Ok(Outcome::Busy),
            Err(error) => {
                // Whatever became of the lock: the stock was neither read nor written, and nothing was sold.
                tracing::warn!(%error, item = %purchase.item, "the lock is not to be had");
                return Ok(Outcome::Busy);
            }
        };
        let outcome = self.sell(purchase, held.as_mut(), probe).await;
        // Whatever becomes of the lock now: what was sold is sold, and the buyer has to be told so.
        match held.release(probe).await {
            Ok(Released::InTime) => {}
            Ok(Released::TooLate) => tracing::warn!(item = %purchase.item, "the lease ended before the sale did"),
            Err(error) => tracing::warn!(%error, item = %purchase.item, "the lock was not released"),
        }
        outcome
    }

    async fn forget(&self, item: &Name) -> Result<(), Error> {
        self.guard.forget(item).await
    }
}
