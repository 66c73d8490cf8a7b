//! WATCH/MULTI/EXEC: Redis executes the write only if no client wrote to the counter since it was read.
//!
//! ```text
//! A: WATCH stock, GET      -- 1
//!                     B: WATCH stock, GET          -- 1
//! A: MULTI, SET 0, HSET, EXEC -> OK
//!                     B: MULTI, SET 0, HSET, EXEC -> nil     -- it reads again
//! ```
//!
//! The watch belongs to the connection: on a shared one, another purchase's EXEC would end it. Source: tutorial 003, in
//! its first test. It refuses at zero alone, where one unit for a buyer of two would sell below zero; here too few are
//! refused. After a nil it tries again at once; here a purchase pauses for 1 to 5 ms. Ours: WATCH and GET go in one
//! round trip, and the orders are watched, too. Cost: two round trips per attempt, a dedicated connection, and under a
//! crowd many attempts.

use std::sync::Arc;

use async_trait::async_trait;
use redis::pipe;

use super::{NativeEntry, Strategy, opened};
use crate::domain::{Error, Outcome, Purchase};
use crate::mechanism::{AS_FAMILY, Family, Mechanism};
use crate::probe::{Data, Probe, Role, Step, StepResult, StepValue};
use crate::stores::{Redis, in_words};
use crate::timeouts::{PAUSE, Timeouts};

const CONNECT: Step = Step::local("connect");
const WATCH: Step = Step::command("watch", &["UNWATCH", "WATCH", "GET", "HGET"])
    .reads(Data::STOCK.and(Data::ORDERS))
    .plays(Role::Read);
const EXEC: Step = Step::command("exec", &["MULTI", "SET", "HSET", "EXEC"])
    .writes(Data::STOCK.and(Data::ORDERS))
    .plays(Role::Write);

pub(super) const ENTRY: NativeEntry = NativeEntry {
    mechanism: Mechanism {
        name: "watch-multi",
        family: Family::Optimistic,
        lesson: 8,
        summary: "WATCH the counter, MULTI/EXEC, retried until no other write came in between",
        claims: AS_FAMILY,
        weak_at: "write",
        needs: &[],
        source: include_str!("watch_multi.rs"),
    },
    stores: &["redis", "cluster"],
    steps: &[CONNECT, WATCH, EXEC, PAUSE],
    open: |world, store| {
        Box::pin(async move {
            opened(WatchMulti {
                redis: world.redis(store)?,
                timeouts: world.timeouts,
            })
        })
    },
};

struct WatchMulti {
    redis: Arc<Redis>,
    timeouts: Timeouts,
}

impl WatchMulti {
    /// Makes one attempt; `None` when another purchase wrote in between. UNWATCH ends the watch that a refused purchase
    /// has left on this connection.
    async fn attempt(&self, purchase: &Purchase, probe: &Probe) -> Result<Option<Outcome>, Error> {
        let (stock, orders) = (Redis::stock_key(&purchase.item), Redis::orders_key(&purchase.item));
        let order = purchase.order.to_string();
        let mut own = probe
            .step(&CONNECT, &"redis", self.redis.connection(), |own| own.origin().word())
            .await?;
        let mut watch = pipe();
        watch.cmd("UNWATCH").ignore();
        watch.cmd("WATCH").arg(&stock).arg(&orders).ignore();
        watch.get(&stock).hget(&orders, &order);
        let (left, entry): (Option<i64>, Option<String>) = probe
            .step(
                &WATCH,
                &stock,
                own.send_all(&watch),
                |(left, entry): &(_, Option<String>)| in_words(*left, entry.is_some()),
            )
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
        let mut set = pipe();
        set.atomic();
        set.set(&stock, remaining).ignore();
        set.hset(&orders, &order, self.redis.entry(purchase)).ignore();
        let executed: Option<()> = probe
            .step(&EXEC, &stock, own.send_all(&set), |executed| match executed {
                Some(()) => StepValue::Wrote(remaining).into(),
                None => StepResult::from("nil: another wrote"),
            })
            .await?;
        Ok(executed.map(|()| Outcome::Sold { remaining }))
    }
}

#[async_trait]
impl Strategy for WatchMulti {
    async fn buy(&self, purchase: &Purchase, probe: &Probe) -> Result<Outcome, Error> {
        let mut backoff = self.timeouts.backoff();
        while backoff.again(&purchase.item, probe).await {
            if let Some(outcome) = self.attempt(purchase, probe).await? {
                return Ok(outcome);
            }
        }
        Ok(Outcome::Busy)
    }
}
