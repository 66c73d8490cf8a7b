//! A value with a version, as in Tair: a put names the version that was read, and the store refuses any other.
//!
//! ```text
//! A: get      -- 1, version 7
//!                     B: get                     -- 1, version 7
//! A: put 0, version 7 -> put, version 8
//!                     B: put 0, version 7 -> changed: read again
//! ```
//!
//! The store raises the version with each put, so no writer can forget to. No purchase waits for a lock, but under a
//! crowd most attempts fail. To compare the version of the stock is ours: tutorial 000 has the put as a lock, which is
//! `version-lock`. Redis has no such command; a short script stands for it. Cost: two round trips per attempt.

use std::sync::Arc;

use async_trait::async_trait;
use redis::{Script, pipe};

use super::{NativeEntry, Strategy, opened};
use crate::domain::{Error, Name, Outcome, Purchase};
use crate::mechanism::{AS_FAMILY, Family, Mechanism};
use crate::probe::{Data, Probe, Role, Step};
use crate::stores::{Redis, in_words};
use crate::timeouts::{PAUSE, Timeouts};

const GET: Step = Step::command("get", &["MGET", "HGET"])
    .reads(Data::STOCK.and(Data::ORDERS))
    .plays(Role::Read);
const PUT: Step = Step::command("put", &["EVALSHA"])
    .writes(Data::STOCK.and(Data::ORDERS))
    .plays(Role::Write);

pub(super) const ENTRY: NativeEntry = NativeEntry {
    mechanism: Mechanism {
        name: "version-cas",
        family: Family::Optimistic,
        lesson: 8,
        summary: "put with the version that was read, retried until no other put came in between",
        claims: AS_FAMILY,
        weak_at: "write",
        needs: &[],
        source: include_str!("version_cas.rs"),
    },
    stores: &["redis", "cluster"],
    steps: &[GET, PUT, PAUSE],
    open: |world, store| {
        Box::pin(async move {
            opened(VersionCas {
                redis: world.redis(store)?,
                put: Script::new(include_str!("version_cas.lua")),
                timeouts: world.timeouts,
            })
        })
    },
};

struct VersionCas {
    redis: Arc<Redis>,
    put: Script,
    timeouts: Timeouts,
}

/// The key of the counter's version. It does not exist before the first put.
fn version_key(item: &Name) -> String {
    format!("version:{{{item}}}")
}

impl VersionCas {
    /// Makes one attempt; `None` when another purchase wrote in between.
    async fn attempt(&self, purchase: &Purchase, probe: &Probe) -> Result<Option<Outcome>, Error> {
        let stock = Redis::stock_key(&purchase.item);
        let (orders, version_key) = (Redis::orders_key(&purchase.item), version_key(&purchase.item));
        let order = purchase.order.to_string();
        let mut get = pipe();
        // One command for value and version: with two, the version could be newer than the value.
        get.mget(&[&stock, &version_key]).hget(&orders, &order);
        type Got = ((Option<i64>, Option<u64>), Option<String>);
        let words = |((left, _), entry): &Got| in_words(*left, entry.is_some());
        let ((left, version), entry): Got = probe.step(&GET, &stock, self.redis.send_all(&get), words).await?;
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
        let mut put = self.put.key(&stock);
        put.key(&version_key)
            .key(&orders)
            .arg(remaining)
            .arg(&order)
            .arg(self.redis.entry(purchase))
            .arg(version.unwrap_or(0));
        let word: String = probe.step(&PUT, &stock, self.redis.run(&put), String::clone).await?;
        Ok((word == "put").then_some(Outcome::Sold { remaining }))
    }
}

#[async_trait]
impl Strategy for VersionCas {
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
        self.redis.forget(&[version_key(item)]).await
    }
}
