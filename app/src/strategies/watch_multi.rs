//! WATCH/MULTI/EXEC: Redis executes the write only if nobody touched the counter since it was read.
//!
//! ```text
//! A: WATCH stock, GET      -- 1
//!                     B: WATCH stock, GET          -- 1
//! A: MULTI, SET 0, HSET, EXEC -> OK
//!                     B: MULTI, SET 0, HSET, EXEC -> nil: read again
//! ```
//!
//! The watch belongs to the connection: on a shared one, another purchase's EXEC would end it. Cost: two round trips
//! an attempt, a connection of one's own, and under a crowd many attempts.

use std::sync::Arc;

use async_trait::async_trait;
use redis::{cmd, pipe};

use super::Strategy;
use crate::guards::Patience;
use crate::probe::{Probe, Step};
use crate::sale::{Error, Family, Mechanism, Outcome, Purchase, Threat};
use crate::stores::{Redis, Stock};

pub(super) struct WatchMulti {
    redis: Arc<Redis>,
    patience: Patience,
}

impl WatchMulti {
    pub(super) fn new(redis: &Arc<Redis>, patience: Patience) -> Self {
        Self {
            redis: redis.clone(),
            patience,
        }
    }

    /// One attempt; `None` when somebody else wrote in between. A watch that is not followed by EXEC is ended by the
    /// pool, which sends UNWATCH before it lends a connection again.
    async fn attempt(&self, purchase: &Purchase, probe: &Probe) -> Result<Option<Outcome>, Error> {
        let (stock, orders) = (Redis::stock_key(&purchase.item), Redis::orders_key(&purchase.item));
        let order = purchase.order.to_string();
        let mut own = self.redis.own().await?;
        probe.at(Step::Read).await;
        let (left, entry): (Option<i64>, Option<String>) = pipe()
            .add_command(cmd("WATCH").arg(&stock).arg(&orders).to_owned())
            .ignore()
            .get(&stock)
            .hget(&orders, &order)
            .query_async(&mut own)
            .await?;
        let Some(left) = left else {
            return Ok(Some(Outcome::UnknownItem));
        };
        if let Some(entry) = entry {
            return Ok(Some(Outcome::Repeated(Redis::order(&entry)?)));
        }
        let remaining = left - i64::from(purchase.quantity);
        if remaining < 0 {
            return Ok(Some(Outcome::SoldOut));
        }
        probe.work().await;
        probe.at(Step::Write).await;
        let executed: Option<()> = pipe()
            .atomic()
            .set(&stock, remaining)
            .ignore()
            .hset(&orders, &order, self.redis.entry(purchase))
            .ignore()
            .query_async(&mut own)
            .await?;
        Ok(executed.map(|()| Outcome::Sold { remaining }))
    }
}

#[async_trait]
impl Strategy for WatchMulti {
    fn about(&self) -> Mechanism {
        Mechanism {
            name: "watch-multi",
            family: Family::Optimistic,
            summary: "WATCH the counter, MULTI/EXEC, again until nobody was faster",
            claims: &[Threat::Crowd, Threat::SecondInstance, Threat::CrashedHolder],
        }
    }

    fn store(&self) -> &'static str {
        self.redis.name()
    }

    async fn buy(&self, purchase: &Purchase, probe: &Probe) -> Result<Outcome, Error> {
        let mut tries = self.patience.tries();
        while tries.again().await {
            if let Some(outcome) = self.attempt(purchase, probe).await? {
                return Ok(outcome);
            }
        }
        Ok(Outcome::Busy)
    }
}
