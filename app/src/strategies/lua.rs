//! One Lua script: Redis checks, takes and records while it does nothing else.
//!
//! ```text
//! A: EVALSHA -- stock 1: DECRBY, HSET -> sold
//!                     B: EVALSHA -- stock 0 -> sold out
//! ```
//!
//! Redis runs one script at a time, so no step of another purchase can fall in between. Cost: one round trip.

use std::sync::Arc;

use async_trait::async_trait;
use redis::Script;

use super::Strategy;
use crate::probe::{Probe, Role, Step};
use crate::sale::{Error, Family, Mechanism, Outcome, Purchase, Threat};
use crate::stores::{Redis, Stock};

const SELL: Step = Step::command("sell", &["EVALSHA"]).plays(Role::Write);

pub(super) struct Lua {
    redis: Arc<Redis>,
    sell: Script,
}

impl Lua {
    pub(super) fn new(redis: &Arc<Redis>) -> Self {
        Self {
            redis: redis.clone(),
            sell: Script::new(include_str!("lua.lua")),
        }
    }
}

#[async_trait]
impl Strategy for Lua {
    fn about(&self) -> Mechanism {
        Mechanism {
            name: "lua",
            family: Family::Atomic,
            summary: "check, take and record in one Lua script",
            claims: &[Threat::Crowd, Threat::SecondInstance, Threat::CrashedHolder],
        }
    }

    fn store(&self) -> &'static str {
        self.redis.name()
    }

    fn steps(&self) -> Vec<Step> {
        vec![SELL]
    }

    async fn buy(&self, purchase: &Purchase, probe: &Probe) -> Result<Outcome, Error> {
        probe.work().await;
        let mut sell = self.sell.key(Redis::stock_key(&purchase.item));
        sell.key(Redis::orders_key(&purchase.item))
            .arg(purchase.order.to_string())
            .arg(purchase.quantity)
            .arg(self.redis.entry(purchase));
        let (word, number, entry): (String, i64, Option<String>) = probe
            .step(&SELL, &purchase.item, self.redis.run(&sell), |(word, number, _)| {
                format!("{word}, left {number}")
            })
            .await?;
        Ok(match (word.as_str(), entry) {
            ("sold", _) => Outcome::Sold { remaining: number },
            ("repeated", Some(entry)) => Outcome::Repeated(Redis::order(&entry)?),
            ("unknown", _) => Outcome::UnknownItem,
            _ => Outcome::SoldOut,
        })
    }
}
