//! One hot item in eight segments: a purchase takes from one segment, and the missing units from the others.
//!
//! ```text
//! A: sell -> sold             -- segment 3 has 1
//!                     B: sell -> sold         -- segment 3 has 0: one unit is stolen from segment 4
//! C: sell -> sold out         -- all eight are empty
//! ```
//!
//! Purchases of one item rarely meet in one segment. Without stealing, a buyer would be refused while other segments
//! have units. Here the segments are fields of one hash, and a script takes and steals in one atomic step: exact, and
//! no faster than `lua`, as Redis has one thread. Segments pay off where each has its own row, lock or node. There
//! stealing takes several steps, and must be made as safe as any sale. Cost: one round trip.

use std::sync::Arc;

use async_trait::async_trait;
use redis::Script;

use super::{NativeEntry, Strategy, opened};
use crate::domain::{Error, Outcome, Purchase};
use crate::mechanism::{AS_FAMILY, Family, Mechanism};
use crate::probe::{Data, Probe, Role, Step};
use crate::stores::Redis;

/// How many segments an item has.
const SEGMENTS: u32 = 8;

const SELL: Step = Step::command("sell", &["EVALSHA"])
    .writes(Data::STOCK.and(Data::ORDERS))
    .plays(Role::Write);

pub(super) const ENTRY: NativeEntry = NativeEntry {
    mechanism: Mechanism {
        name: "segmented",
        family: Family::Atomic,
        lesson: 9,
        summary: "stock in eight segments; take from one at random, steal from the others",
        claims: AS_FAMILY,
        weak_at: "write",
        needs: &[],
        source: include_str!("segmented.rs"),
    },
    stores: &["redis"],
    steps: &[SELL],
    open: |world, _| {
        Box::pin(async {
            opened(Segmented {
                redis: world.store()?,
                sell: Script::new(include_str!("segmented.lua")),
            })
        })
    },
};

struct Segmented {
    redis: Arc<Redis>,
    sell: Script,
}

#[async_trait]
impl Strategy for Segmented {
    async fn buy(&self, purchase: &Purchase, probe: &Probe) -> Result<Outcome, Error> {
        probe.work().await;
        let mut sell = self.sell.key(Redis::stock_key(&purchase.item));
        sell.key(Redis::orders_key(&purchase.item))
            .key(Redis::segments_key(&purchase.item))
            .arg(purchase.order.to_string())
            .arg(purchase.quantity)
            .arg(self.redis.entry(purchase))
            .arg(SEGMENTS)
            .arg(rand::random_range(0..SEGMENTS));
        self.redis.sell_by(&SELL, &sell, purchase, probe).await
    }
}
