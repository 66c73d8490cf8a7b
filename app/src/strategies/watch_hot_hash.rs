//! WATCH on one hash that holds the stock of all items, and nothing under it that asks whether enough is left.
//!
//! ```text
//! A: HGET stocks item      -- 1: enough
//!                     B: HGET stocks item                  -- 1: enough
//! A: WATCH stocks, HGET 1; MULTI, HSET 0, EXEC -> OK
//!                     B: WATCH stocks, HGET 0; MULTI, HSET -1, EXEC -> OK: no write since the WATCH
//! ```
//!
//! WATCH is on a key, not a field: a sale of any other item makes EXEC return nil. Source: tutorial 003, its second
//! test. It checks nothing, as its stock never ends. The check before the WATCH is ours: without it one buyer alone
//! oversells. It protects nothing, since WATCH protects only later reads; `watch-hot-hash-checked` checks what it
//! watches. After a nil the source's buyer goes on with its next item at once; here a purchase has one, pauses for 1 to
//! 5 ms and tries it again. `stock:{item}` is set beside the field, which starts with its value. Cost: three round
//! trips.

use std::sync::Arc;

use async_trait::async_trait;
use redis::{FromRedisValue, ParsingError, Pipeline, Value, pipe};

use super::{NativeEntry, Strategy, opened};
use crate::domain::{Error, Name, Outcome, Purchase};
use crate::mechanism::{AS_NO_LOCK, Family, Mechanism};
use crate::probe::{Data, Probe, Role, Step, StepResult, StepValue};
use crate::stores::redis::Connection;
use crate::stores::{Redis, in_words};
use crate::timeouts::{PAUSE, Timeouts};

pub(super) const CONNECT: Step = Step::local("connect");
const CHECK: Step = Step::command("check", &["HGET", "GET", "HGET"])
    .reads(Data::STOCK.and(Data::ORDERS))
    .plays(Role::Read);
pub(super) const WATCH: Step = Step::command("watch", &["UNWATCH", "WATCH", "HGET", "GET", "HGET"])
    .reads(Data::STOCK.and(Data::ORDERS))
    .plays(Role::Read);
pub(super) const EXEC: Step = Step::command("exec", &["MULTI", "HSET", "SET", "HSET", "EXEC"])
    .writes(Data::STOCK.and(Data::ORDERS))
    .plays(Role::Write);

/// The hash of all items.
const STOCKS: &str = "stocks";

pub(super) const ENTRY: NativeEntry = NativeEntry {
    mechanism: Mechanism {
        name: "watch-hot-hash",
        family: Family::Optimistic,
        lesson: 8,
        summary: "check, then WATCH the hash of all items; retried until no item was sold in between",
        claims: AS_NO_LOCK,
        weak_at: "write",
        needs: &[],
        source: include_str!("watch_hot_hash.rs"),
    },
    stores: &["redis"],
    steps: &[CONNECT, CHECK, WATCH, EXEC, PAUSE],
    open: |world, _| {
        Box::pin(async {
            opened(WatchHotHash {
                redis: world.store()?,
                timeouts: world.timeouts,
            })
        })
    },
};

struct WatchHotHash {
    redis: Arc<Redis>,
    timeouts: Timeouts,
}

impl WatchHotHash {
    /// Makes one attempt to write; `None` when any item was sold in between.
    async fn attempt(
        &self,
        purchase: &Purchase,
        probe: &Probe,
        own: &mut Connection,
    ) -> Result<Option<Outcome>, Error> {
        let watched = watch(purchase, probe, own).await?;
        if let Some(entry) = &watched.entry {
            return Ok(Some(Outcome::Repeated(Redis::order(entry)?)));
        }
        // The mistake: nothing asks whether this is enough.
        let remaining = watched.left.unwrap_or(0) - i64::from(purchase.quantity);
        let sold = exec(&self.redis, remaining, (purchase, probe), own).await?;
        Ok(sold.then_some(Outcome::Sold { remaining }))
    }
}

/// What a purchase finds in the hash of all items.
pub(super) struct Found {
    /// `None` without a sale.
    pub(super) left: Option<i64>,
    /// This purchase's order in the ledger.
    entry: Option<String>,
}

impl Found {
    /// Returns the outcome where nothing is to be written; `None` where enough is left.
    pub(super) fn refusal(&self, purchase: &Purchase) -> Result<Option<Outcome>, Error> {
        Ok(match (self.left, &self.entry) {
            (None, _) => Some(Outcome::UnknownItem),
            (_, Some(entry)) => Some(Outcome::Repeated(Redis::order(entry)?)),
            (Some(left), None) => (left < i64::from(purchase.quantity)).then_some(Outcome::SoldOut),
        })
    }
}

impl FromRedisValue for Found {
    fn from_redis_value(value: Value) -> Result<Self, ParsingError> {
        let (field, counter, entry): (Option<i64>, Option<i64>, _) = FromRedisValue::from_redis_value(value)?;
        // The field starts with the value of the counter. A closed sale has no counter, whatever the field says.
        let left = counter.map(|counter| field.unwrap_or(counter));
        Ok(Self { left, entry })
    }
}

fn words(found: &Found) -> StepResult {
    in_words(found.left, found.entry.is_some())
}

/// Adds the reads of [`Found`] to a pipeline.
fn look<'a>(asked: &'a mut Pipeline, purchase: &Purchase) -> &'a Pipeline {
    asked
        .hget(STOCKS, purchase.item.as_str())
        .get(Redis::stock_key(&purchase.item))
        .hget(Redis::orders_key(&purchase.item), purchase.order.to_string())
}

/// Watches the hash of all items, and reads one. UNWATCH ends the watch that a refused purchase has left on this
/// connection.
pub(super) async fn watch(purchase: &Purchase, probe: &Probe, own: &mut Connection) -> Result<Found, Error> {
    let mut watch = pipe();
    watch.cmd("UNWATCH").ignore();
    watch.cmd("WATCH").arg(STOCKS).ignore();
    let look = own.send_all(look(&mut watch, purchase));
    probe.step(&WATCH, &purchase.item, look, words).await
}

/// Sells, and sets the field to `remaining`. Returns false when any item was sold since the watch.
pub(super) async fn exec(
    redis: &Redis,
    remaining: i64,
    (purchase, probe): (&Purchase, &Probe),
    own: &mut Connection,
) -> Result<bool, Error> {
    let mut set = pipe();
    set.atomic();
    set.hset(STOCKS, purchase.item.as_str(), remaining).ignore();
    // The counter of every other strategy and of the witness.
    set.set(Redis::stock_key(&purchase.item), remaining).ignore();
    set.hset(
        Redis::orders_key(&purchase.item),
        purchase.order.to_string(),
        redis.entry(purchase),
    )
    .ignore();
    let executed: Option<()> = probe
        .step(&EXEC, &purchase.item, own.send_all(&set), |executed| match executed {
            Some(()) => StepValue::Wrote(remaining).into(),
            None => StepResult::from("nil: another wrote"),
        })
        .await?;
    Ok(executed.is_some())
}

/// Deletes the field of an item.
pub(super) async fn forget(redis: &Redis, item: &Name) -> Result<(), Error> {
    redis.forget_field(STOCKS, item).await
}

#[async_trait]
impl Strategy for WatchHotHash {
    async fn buy(&self, purchase: &Purchase, probe: &Probe) -> Result<Outcome, Error> {
        let open = self.redis.connection();
        let mut own = probe.step(&CONNECT, &"redis", open, |own| own.origin().word()).await?;
        let mut check = pipe();
        let look = own.send_all(look(&mut check, purchase));
        let seen: Found = probe.step(&CHECK, &purchase.item, look, words).await?;
        if let Some(refusal) = seen.refusal(purchase)? {
            return Ok(refusal);
        }
        probe.work().await;
        let mut backoff = self.timeouts.backoff();
        while backoff.again(&purchase.item, probe).await {
            if let Some(outcome) = self.attempt(purchase, probe, &mut own).await? {
                return Ok(outcome);
            }
        }
        Ok(Outcome::Busy)
    }

    async fn forget(&self, item: &Name) -> Result<(), Error> {
        forget(&self.redis, item).await
    }
}
