//! Segments in one hash: a script takes the units from one of them and the missing ones from the others.

use std::sync::Arc;

use async_trait::async_trait;
use redis::Script;

use super::super::Strategy;
use super::SELL;
use crate::domain::{Error, Outcome, Purchase};
use crate::probe::Probe;
use crate::stores::Redis;

/// How many segments an item has.
const SEGMENTS: u32 = 8;

pub(super) struct Segmented {
    redis: Arc<Redis>,
    sell: Script,
}

impl Segmented {
    pub(super) fn new(redis: Arc<Redis>) -> Self {
        let sell = Script::new(include_str!("sell.lua"));
        Self { redis, sell }
    }
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
