//! One Lua script: Redis checks, takes and records in one atomic step.
//!
//! ```text
//! A: EVALSHA -- stock 1: HSETNX, DECRBY -> sold
//!                     B: EVALSHA -- stock 0 -> sold out
//! ```
//!
//! Redis runs one script at a time, so no step of another purchase can fall in between. Cost: one round trip.

use std::sync::Arc;

use async_trait::async_trait;
use redis::Script;

use super::{NativeEntry, Strategy, opened};
use crate::domain::{Error, Outcome, Purchase};
use crate::mechanism::{AS_FAMILY, Family, Mechanism};
use crate::probe::{Data, Probe, Role, Step};
use crate::stores::Redis;

const SELL: Step = Step::command("sell", &["EVALSHA"])
    .writes(Data::STOCK.and(Data::ORDERS))
    .plays(Role::Write);

pub(super) const ENTRY: NativeEntry = NativeEntry {
    mechanism: Mechanism {
        name: "lua",
        family: Family::Atomic,
        lesson: 9,
        summary: "check, take and record in one Lua script",
        claims: AS_FAMILY,
        weak_at: "write",
        needs: &[],
        source: include_str!("lua.rs"),
    },
    stores: &["redis", "cluster"],
    steps: &[SELL],
    open: |world, store| {
        Box::pin(async move {
            opened(Lua {
                redis: world.redis(store)?,
                sell: Script::new(include_str!("lua.lua")),
            })
        })
    },
};

struct Lua {
    redis: Arc<Redis>,
    sell: Script,
}

#[async_trait]
impl Strategy for Lua {
    async fn buy(&self, purchase: &Purchase, probe: &Probe) -> Result<Outcome, Error> {
        probe.work().await;
        let mut sell = self.sell.key(Redis::stock_key(&purchase.item));
        sell.key(Redis::orders_key(&purchase.item))
            .arg(purchase.order.to_string())
            .arg(purchase.quantity)
            .arg(self.redis.entry(purchase));
        self.redis.sell_by(&SELL, &sell, purchase, probe).await
    }
}
