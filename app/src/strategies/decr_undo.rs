//! DECR first, check afterwards: a purchase that finds a negative counter gives its units back.
//!
//! ```text
//! A: read 1; SADD claim, DECRBY 1    -- 0
//!                             B: read 0 ...
//! A: (killed)                -- neither order nor undo: the unit is lost
//!                             B: SADD claim, DECRBY 1      -- -1: too much
//!                             B: INCRBY 1, SREM claim      -- 0: sold out
//! ```
//!
//! Each step is relative, so no update is lost. But a sale takes several steps, and no process completes it for a
//! purchase that dies in between. While units are on their way back the counter is too low: a buyer of one may be
//! refused as another wanted five. A claim (SADD) by the first copy of a purchase keeps other copies out.
//! Cost: four round trips.

use std::sync::Arc;

use async_trait::async_trait;
use redis::{cmd, pipe};

use super::{NativeEntry, Strategy, opened};
use crate::domain::{Error, Name, Outcome, Purchase};
use crate::mechanism::{AS_FAMILY, Claims, Family, Mechanism};
use crate::probe::{Data, Probe, Role, Step, StepValue};
use crate::stores::redis::READ;
use crate::stores::{Redis, Stock};
use crate::timeouts::{PAUSE, Timeouts};

const CLAIM: Step = Step::command("claim", &["SADD"]).writes(Data::ORDERS);
const DECR: Step = Step::command("decr", &["DECRBY"])
    .writes(Data::STOCK)
    .plays(Role::Write);
const UNDO: Step = Step::command("undo", &["MULTI", "INCRBY", "SREM", "EXEC"]).writes(Data::STOCK.and(Data::ORDERS));
const ENTER: Step = Step::command("enter", &["HSET"])
    .writes(Data::ORDERS)
    .plays(Role::Record);

pub(super) const ENTRY: NativeEntry = NativeEntry {
    mechanism: Mechanism {
        name: "decr-undo",
        family: Family::Atomic,
        lesson: 9,
        summary: "DECRBY, and INCRBY to give back what was too much",
        claims: Claims {
            broken_by: &[
                "crashed-holder",
                "crashed-between",
                "store-silent",
                "lost-reply",
                "disk-full",
            ],
            ..AS_FAMILY
        },
        weak_at: "record",
        needs: &[],
        source: include_str!("decr_undo.rs"),
    },
    stores: &["redis", "cluster"],
    steps: &[READ, CLAIM, DECR, UNDO, ENTER, PAUSE],
    open: |world, store| {
        Box::pin(async move {
            opened(DecrUndo {
                redis: world.redis(store)?,
                timeouts: world.timeouts,
            })
        })
    },
};

struct DecrUndo {
    redis: Arc<Redis>,
    timeouts: Timeouts,
}

/// The key of the set of orders that a purchase has claimed.
fn claimed_key(item: &Name) -> String {
    format!("claimed:{{{item}}}")
}

impl DecrUndo {
    /// Makes one attempt; `None` while another copy of this purchase runs. The claim stays with the order: a copy that
    /// has read before the order was there comes too late for another one.
    async fn attempt(&self, purchase: &Purchase, probe: &Probe) -> Result<Option<Outcome>, Error> {
        let Some(found) = self.redis.read(purchase, probe).await? else {
            return Ok(Some(Outcome::UnknownItem));
        };
        if let Some(order) = found.order {
            return Ok(Some(Outcome::Repeated(order)));
        }
        let (claimed, order) = (claimed_key(&purchase.item), purchase.order.to_string());
        let mut claim = cmd("SADD");
        claim.arg(&claimed).arg(&order);
        let words = |first: &bool| if *first { "claimed" } else { "claimed by a copy" };
        if !probe.step(&CLAIM, &order, self.redis.send(&claim), words).await? {
            return Ok(None);
        }
        probe.work().await;
        let stock = Redis::stock_key(&purchase.item);
        let mut decr = cmd("DECRBY");
        decr.arg(&stock).arg(purchase.quantity);
        let remaining: i64 = probe
            .step(&DECR, &stock, self.redis.send(&decr), |left| StepValue::Left(*left))
            .await?;
        if remaining < 0 {
            let mut undo = pipe();
            undo.atomic()
                .incr(&stock, purchase.quantity)
                .srem(&claimed, &order)
                .ignore();
            let words = |(left,): &(i64,)| StepValue::Left(*left);
            probe.step(&UNDO, &stock, self.redis.send_all(&undo), words).await?;
            return Ok(Some(Outcome::SoldOut));
        }
        let mut enter = cmd("HSET");
        enter
            .arg(Redis::orders_key(&purchase.item))
            .arg(&order)
            .arg(self.redis.entry(purchase));
        let () = probe
            .step(&ENTER, &order, self.redis.send(&enter), |()| "entered")
            .await?;
        Ok(Some(Outcome::Sold { remaining }))
    }
}

#[async_trait]
impl Strategy for DecrUndo {
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
        self.redis.forget(&[claimed_key(item)]).await
    }
}
