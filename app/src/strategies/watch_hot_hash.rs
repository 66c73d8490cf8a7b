//! WATCH on one hash that holds the stock of all items, and a check that is older than the watch.
//!
//! ```text
//! A: HGET stocks item      -- 1: enough
//!                     B: HGET stocks item                  -- 1: enough
//! A: WATCH stocks, HGET 1; MULTI, HSET 0, EXEC -> OK
//!                     B: WATCH stocks, HGET 0; MULTI, HSET -1, EXEC -> OK: no write since the WATCH
//! ```
//!
//! WATCH protects only later reads, and the single check comes before it. It watches a key, not a field: a sale of any
//! other item makes EXEC return nil. The benchmark that it comes from checks nothing (a single buyer would oversell
//! there), and takes the next item after a nil; here a purchase has one item, and tries it again. `stock:{item}` is set
//! beside the field, which starts with its value. Cost: three round trips.

use std::sync::Arc;

use async_trait::async_trait;
use redis::{Pipeline, pipe};

use super::{NativeEntry, Strategy, opened};
use crate::domain::{Error, Name, Outcome, Purchase};
use crate::mechanism::{AS_NO_LOCK, Family, Mechanism};
use crate::probe::{Probe, Role, Step};
use crate::stores::redis::Connection;
use crate::stores::{Redis, in_words};
use crate::timeouts::{PAUSE, Timeouts};

const CONNECT: Step = Step::local("connect");
const CHECK: Step = Step::command("check", &["HGET", "GET", "HGET"]).plays(Role::Read);
const WATCH: Step = Step::command("watch", &["UNWATCH", "WATCH", "HGET", "GET", "HGET"]).plays(Role::Read);
const EXEC: Step = Step::command("exec", &["MULTI", "HSET", "SET", "HSET", "EXEC"]).plays(Role::Write);

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
    store: "redis",
    steps: &[CONNECT, CHECK, WATCH, EXEC, PAUSE],
    open: |world| {
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

/// The item's field, the counter that is its first value, and this purchase's order.
type Found = (Option<i64>, Option<i64>, Option<String>);

fn left((field, counter, _): &Found) -> Option<i64> {
    // A closed sale has no counter, whatever the field says.
    counter.map(|counter| field.unwrap_or(counter))
}

fn words(found: &Found) -> String {
    in_words(left(found), found.2.is_some())
}

/// Adds the reads of [`Found`] to a pipeline.
fn look<'a>(asked: &'a mut Pipeline, purchase: &Purchase) -> &'a Pipeline {
    asked
        .hget(STOCKS, purchase.item.as_str())
        .get(Redis::stock_key(&purchase.item))
        .hget(Redis::orders_key(&purchase.item), purchase.order.to_string())
}

impl WatchHotHash {
    /// Makes one attempt to write; `None` when any item was written in between.
    async fn attempt(
        &self,
        purchase: &Purchase,
        probe: &Probe,
        own: &mut Connection,
    ) -> Result<Option<Outcome>, Error> {
        let item = purchase.item.as_str();
        let mut watch = pipe();
        watch.cmd("UNWATCH").ignore();
        watch.cmd("WATCH").arg(STOCKS).ignore();
        let found: Found = probe
            .step(&WATCH, &item, own.send_all(look(&mut watch, purchase)), words)
            .await?;
        if let Some(entry) = &found.2 {
            return Ok(Some(Outcome::Repeated(Redis::order(entry)?)));
        }
        // The mistake: the check was made before the WATCH.
        let remaining = left(&found).unwrap_or(0) - i64::from(purchase.quantity);
        let mut set = pipe();
        set.atomic();
        set.hset(STOCKS, item, remaining).ignore();
        set.set(Redis::stock_key(&purchase.item), remaining).ignore();
        set.hset(
            Redis::orders_key(&purchase.item),
            purchase.order.to_string(),
            self.redis.entry(purchase),
        )
        .ignore();
        let executed: Option<()> = probe
            .step(&EXEC, &item, own.send_all(&set), |executed| match executed {
                Some(()) => format!("wrote {remaining}"),
                None => "nil: another wrote".to_owned(),
            })
            .await?;
        Ok(executed.map(|()| Outcome::Sold { remaining }))
    }
}

#[async_trait]
impl Strategy for WatchHotHash {
    async fn buy(&self, purchase: &Purchase, probe: &Probe) -> Result<Outcome, Error> {
        let open = self.redis.connection();
        let mut own = probe.step(&CONNECT, &"redis", open, |own| own.origin().word()).await?;
        let mut check = pipe();
        let look = own.send_all(look(&mut check, purchase));
        let seen: Found = probe.step(&CHECK, &purchase.item, look, words).await?;
        match (left(&seen), &seen.2) {
            (None, _) => return Ok(Outcome::UnknownItem),
            (_, Some(entry)) => return Ok(Outcome::Repeated(Redis::order(entry)?)),
            (Some(left), None) if left < i64::from(purchase.quantity) => return Ok(Outcome::SoldOut),
            (Some(_), None) => {}
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
        self.redis.forget_field(STOCKS, item).await
    }
}
