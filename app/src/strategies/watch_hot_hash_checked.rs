//! WATCH on one hash that holds the stock of all items, and a check of what was read under it.
//!
//! ```text
//! A: WATCH stocks, HGET 1  -- enough
//!                     B: WATCH stocks, HGET 1              -- enough
//! A: MULTI, HSET 0, EXEC -> OK
//!                     B: MULTI, HSET 0, EXEC -> nil
//!                     B: WATCH stocks, HGET 0              -- sold out
//! ```
//!
//! Exact, but one key for all items: a sale of any other item makes EXEC return nil, and the more items are sold at
//! once, the more attempts fail. Source: tutorial 003, its second test, with the check that it lacks: `watch-hot-hash`.
//! After a nil the source's buyer goes on with its next item at once; here a purchase has one, pauses for 1 to 5 ms and
//! tries it again. Cost: two round trips per attempt, a dedicated connection, and under a crowd many attempts.

use std::sync::Arc;

use async_trait::async_trait;

use super::watch_hot_hash::{CONNECT, EXEC, WATCH, exec, forget, watch};
use super::{NativeEntry, Strategy, opened};
use crate::domain::{Error, Name, Outcome, Purchase};
use crate::mechanism::{AS_FAMILY, Family, Mechanism};
use crate::probe::Probe;
use crate::stores::Redis;
use crate::timeouts::{PAUSE, Timeouts};

pub(super) const ENTRY: NativeEntry = NativeEntry {
    mechanism: Mechanism {
        name: "watch-hot-hash-checked",
        family: Family::Optimistic,
        lesson: 8,
        summary: "WATCH the hash of all items, check, MULTI/EXEC, retried until no item was sold in between",
        claims: AS_FAMILY,
        weak_at: "write",
        needs: &[],
        source: include_str!("watch_hot_hash_checked.rs"),
    },
    stores: &["redis"],
    steps: &[CONNECT, WATCH, EXEC, PAUSE],
    open: |world, _| {
        Box::pin(async {
            opened(WatchHotHashChecked {
                redis: world.store()?,
                timeouts: world.timeouts,
            })
        })
    },
};

struct WatchHotHashChecked {
    redis: Arc<Redis>,
    timeouts: Timeouts,
}

impl WatchHotHashChecked {
    /// Makes one attempt; `None` when any item was sold in between.
    async fn attempt(&self, purchase: &Purchase, probe: &Probe) -> Result<Option<Outcome>, Error> {
        let open = self.redis.connection();
        let mut own = probe.step(&CONNECT, &"redis", open, |own| own.origin().word()).await?;
        let watched = watch(purchase, probe, &mut own).await?;
        if let Some(refusal) = watched.refusal(purchase)? {
            return Ok(Some(refusal));
        }
        let remaining = watched.left.unwrap_or(0) - i64::from(purchase.quantity);
        probe.work().await;
        let sold = exec(&self.redis, remaining, (purchase, probe), &mut own).await?;
        Ok(sold.then_some(Outcome::Sold { remaining }))
    }
}

#[async_trait]
impl Strategy for WatchHotHashChecked {
    async fn buy(&self, purchase: &Purchase, probe: &Probe) -> Result<Outcome, Error> {
        let mut backoff = self.timeouts.backoff();
        while backoff.again(&purchase.item, probe).await {
            if let Some(outcome) = self.attempt(purchase, probe).await? {
                return Ok(outcome);
            }
        }
        Ok(Outcome::Busy)
    }

    async fn forget(&self, item: &Name) -> Result<(), Error> {
        forget(&self.redis, item).await
    }
}
