//! Stock and orders in Redis: `stock:{item}` is the counter, `orders:{item}` a hash of order id to order.
//!
//! The braces are literal. They make a cluster keep all keys of one item on one node, so that scripts and transactions
//! can use them together, on one server (`redis`) as in a cluster (`cluster`).

mod answer;
mod cluster;
mod connections;
mod entry;
mod error;
mod redirect;
mod segments;
mod wire;

use std::time::Duration;

use async_trait::async_trait;
use baton::{Baton, Settings};
use redis::{Script, ScriptInvocation, pipe};

pub use self::answer::Answer;
use self::cluster::Cluster;
pub use self::connections::Connection;
use self::connections::Connections;
use self::error::unfit;
pub use self::segments::{SEGMENTS, SegmentKeys};
use self::wire::Server;
use super::{ANSWER_WITHIN, Connect, Fencing, Ledger, Stock, StockRead, Store, Written, in_words};
use crate::domain::{Error, Fence, Name, Outcome, Purchase};
use crate::probe::{Data, Probe, Role, Step, StepResult, StepValue};

/// Reads counter and ledger.
pub const READ: Step = Step::command("read", &["GET", "HGET", "GET"])
    .reads(Data::STOCK.and(Data::ORDERS))
    .plays(Role::Read);
const WRITE: Step = Step::command("write", &["MULTI", "SET", "HSET", "EXEC"])
    .writes(Data::STOCK.and(Data::ORDERS))
    .plays(Role::Write);
const FENCED_WRITE: Step = Step::command("fenced-write", &["EVALSHA"])
    .writes(Data::STOCK.and(Data::ORDERS))
    .plays(Role::Write);

/// The connections of one instance to Redis, and the layout of stock and orders there.
pub struct Redis {
    connections: Connections,
    instance: Name,
    fenced_write: Script,
}

impl Redis {
    /// Connects like [`Store::connect`], with another limit for the time of a command.
    ///
    /// # Errors
    /// When the URL cannot be read or Redis cannot be reached.
    pub async fn connect_to_answer_within(limit: Duration, to: Connect<'_>) -> Result<Self, Error> {
        Self::of(Server::one(to.url)?, limit, to).await
    }

    /// Prepares the connections to a cluster, which are opened at their first command.
    ///
    /// # Errors
    /// When a URL cannot be read.
    pub async fn of_cluster(to: Connect<'_>) -> Result<Self, Error> {
        let others = to.others.iter().map(String::as_str);
        let cluster = Cluster::at(std::iter::once(to.url).chain(others))?;
        Self::of(Server::Cluster(Box::new(cluster)), ANSWER_WITHIN, to).await
    }

    async fn of(server: Server, limit: Duration, to: Connect<'_>) -> Result<Self, Error> {
        Ok(Self {
            connections: Connections::open(server, to.wait, limit).await?,
            instance: to.instance.clone(),
            fenced_write: Script::new(include_str!("fenced_write.lua")),
        })
    }

    /// Returns the key of the counter.
    pub fn stock_key(item: &Name) -> String {
        key("stock", item.as_str())
    }

    /// Returns the key of the ledger.
    pub fn orders_key(item: &Name) -> String {
        key("orders", item.as_str())
    }

    /// Returns the key of the hash with the units that were taken out of the counter, in segments.
    pub fn segments_key(item: &Name) -> String {
        key("segments", item.as_str())
    }

    /// Returns the key of the stock that the sale was opened with.
    fn opened_key(item: &Name) -> String {
        key("opened", item.as_str())
    }

    /// Returns the key of the highest fence that has written.
    fn fence_key(item: &Name) -> String {
        key("fence", item.as_str())
    }

    /// Opens the lock of the crate `baton` in this Redis, or in this cluster.
    ///
    /// # Errors
    /// When Redis does not answer.
    pub async fn baton(&self, settings: Settings) -> Result<Baton, baton::Error> {
        self.connections.baton(settings).await
    }

    /// Deletes keys for an operator, which is not a step of a purchase.
    ///
    /// # Errors
    /// When Redis does not answer.
    pub async fn forget(&self, keys: &[String]) -> Result<(), Error> {
        self.operate(pipe().del(keys)).await
    }

    /// Deletes one field of a hash for an operator.
    ///
    /// # Errors
    /// When Redis does not answer.
    pub async fn forget_field(&self, key: &str, item: &Name) -> Result<(), Error> {
        self.operate(pipe().hdel(key, item.as_str())).await
    }

    async fn write_fenced(
        &self,
        purchase: &Purchase,
        left: i64,
        Fencing { mine, seen }: Fencing,
        probe: &Probe,
    ) -> Result<Written, Error> {
        let mut write = self.fenced_write.key(Self::stock_key(&purchase.item));
        write
            .key(Self::orders_key(&purchase.item))
            .key(Self::fence_key(&purchase.item))
            .arg(left)
            .arg(purchase.order.to_string())
            .arg(self.entry(purchase))
            .arg(mine.0)
            .arg(seen.0);
        let word: String = probe
            .step(&FENCED_WRITE, &purchase.item, self.run(&write), String::clone)
            .await?;
        Ok(match word.as_str() {
            "written" => Written::Written,
            "repeated" => Written::Repeated,
            "closed" => Written::Closed,
            _ => Written::Fenced,
        })
    }

    /// Sells by a script that returns an [`Answer`].
    ///
    /// # Errors
    /// When Redis does not answer, or holds an entry that this program cannot have written.
    pub async fn sell_by(
        &self,
        step: &Step,
        script: &ScriptInvocation<'_>,
        purchase: &Purchase,
        probe: &Probe,
    ) -> Result<Outcome, Error> {
        let answer = probe.step(step, &purchase.item, self.run(script), |answer: &Answer| {
            StepResult::from(answer)
        });
        answer.await?.outcome()
    }

    /// Reads a number for an operator, which is not a step of a purchase; 0 where there is none.
    ///
    /// # Errors
    /// When Redis does not answer.
    pub async fn count(&self, hash: &str, field: &str) -> Result<u64, Error> {
        let (count,): (Option<u64>,) = self.operate(pipe().hget(hash, field)).await?;
        Ok(count.unwrap_or(0))
    }
}

/// Returns a key of an item, or of a segment of one.
fn key(kind: &str, name: &str) -> String {
    format!("{kind}:{{{name}}}")
}

impl Store for Redis {
    const NAME: &'static str = "redis";
    const STEPS: &'static [Step] = &[READ, WRITE, FENCED_WRITE];
    /// Redis keeps nothing on disk, or syncs up to a second later, and answers before a replica has received the write. At
    /// the limit of its memory it may evict any key.
    const LOSES_BY: &'static [&'static str] = &[
        "redis-restart",
        "redis-failover",
        "redis-power-loss",
        "redis-evicts-all",
    ];

    async fn connect(to: Connect<'_>) -> Result<Self, Error> {
        Self::connect_to_answer_within(ANSWER_WITHIN, to).await
    }
}

#[async_trait]
impl Stock for Redis {
    async fn read(&self, purchase: &Purchase, probe: &Probe) -> Result<Option<StockRead>, Error> {
        let stock = Self::stock_key(&purchase.item);
        let mut get = pipe();
        get.get(&stock)
            .hget(Self::orders_key(&purchase.item), purchase.order.to_string())
            .get(Self::fence_key(&purchase.item));
        let (left, entry, fence): (Option<i64>, Option<String>, Option<u64>) = probe
            .step(
                &READ,
                &stock,
                self.send_all(&get),
                |(left, entry, _): &(_, Option<String>, _)| in_words(*left, entry.is_some()),
            )
            .await?;
        let order = entry.as_deref().map(Self::order).transpose()?;
        let fence = Fence(fence.unwrap_or_default());
        Ok(left.map(|left| StockRead { left, order, fence }))
    }

    async fn write(
        &self,
        purchase: &Purchase,
        left: i64,
        fencing: Option<Fencing>,
        probe: &Probe,
    ) -> Result<Written, Error> {
        if let Some(fencing) = fencing {
            return self.write_fenced(purchase, left, fencing, probe).await;
        }
        let stock = Self::stock_key(&purchase.item);
        let order = purchase.order.to_string();
        let mut set = pipe();
        set.atomic()
            .set(&stock, left)
            .hset(Self::orders_key(&purchase.item), order, self.entry(purchase))
            .ignore();
        let (): () = probe
            .step(&WRITE, &stock, self.send_all(&set), |()| StepValue::Wrote(left))
            .await?;
        Ok(Written::Written)
    }

    async fn open(&self, item: &Name, stock: i64) -> Result<(), Error> {
        self.forget_segments(item).await?;
        let mut open = pipe();
        open.atomic()
            .set(Self::stock_key(item), stock)
            .set(Self::opened_key(item), stock)
            .del(&[Self::orders_key(item), Self::fence_key(item), Self::segments_key(item)]);
        self.operate(&open).await
    }

    async fn open_if_absent(&self, item: &Name, stock: i64) -> Result<(), Error> {
        let mut open = pipe();
        open.atomic()
            .set_nx(Self::stock_key(item), stock)
            .ignore()
            .set_nx(Self::opened_key(item), stock)
            .ignore();
        // Existing keys must have the expected types. These reads check that at the same cost for any size.
        open.get(Self::stock_key(item))
            .get(Self::opened_key(item))
            .get(Self::fence_key(item))
            .hlen(Self::orders_key(item))
            .hlen(Self::segments_key(item));
        type Kept = (i64, i64, Option<u64>, u64, u64);
        let kept: Result<Kept, Error> = self.operate(&open).await;
        kept.map(drop).map_err(unfit)
    }

    async fn close(&self, item: &Name) -> Result<(), Error> {
        let keys = [
            Self::stock_key,
            Self::opened_key,
            Self::orders_key,
            Self::fence_key,
            Self::segments_key,
        ];
        self.forget(&keys.map(|key| key(item))).await?;
        self.forget_segments(item).await
    }

    async fn look(&self, item: &Name) -> Result<Option<Ledger>, Error> {
        let mut look = pipe();
        look.atomic()
            .get(Self::stock_key(item))
            .get(Self::opened_key(item))
            .hvals(Self::segments_key(item))
            .hvals(Self::orders_key(item));
        type Looked = (Option<i64>, Option<i64>, Vec<i64>, Vec<String>);
        let (counter, opened, segments, entries): Looked = self.operate(&look).await?;
        let (elsewhere, further) = self.look_at_segments(item).await?;
        let left = counter.map(|counter| counter + segments.iter().sum::<i64>() + elsewhere);
        let entries = [entries, further].concat();
        let orders = entries.iter().map(|entry| Self::order(entry));
        let units: i64 = orders
            .map(|order| Ok(i64::from(order?.quantity)))
            .sum::<Result<_, Error>>()?;
        Ok(left.map(|left| Ledger {
            // A sale that an older program opened has no such key.
            opened: opened.unwrap_or(left + units),
            left,
            orders: entries.len() as i64,
            units,
        }))
    }

    async fn ping(&self) -> Result<(), Error> {
        self.operate(pipe().ping()).await
    }
}
