//! Redis: `stock:{item}`, and `orders:{item}` as a hash of order id to JSON.

use std::sync::LazyLock;
use std::time::Duration;

use anyhow::{Context, Result, bail};
use redis::aio::{ConnectionManager, ConnectionManagerConfig};
use redis::{AsyncCommands, Script, pipe};
use serde_json::{Value, json};

use super::{Order, Sale};

#[derive(Clone)]
pub struct RedisStore {
    pub connection: ConnectionManager,
    instance: String,
}

static TAKE: LazyLock<Script> = LazyLock::new(|| {
    Script::new(
        "local stock = tonumber(redis.call('GET', KEYS[1]) or '0')
        if stock < tonumber(ARGV[1]) + tonumber(ARGV[2]) then return 0 end
        redis.call('DECRBY', KEYS[1], ARGV[1])
        return 1",
    )
});

static SELL: LazyLock<Script> = LazyLock::new(|| {
    Script::new(
        "local known = redis.call('HGET', KEYS[2], ARGV[1])
        if known then return {'known', known} end
        local stock = redis.call('GET', KEYS[1])
        if not stock then return {'gone', ''} end
        if tonumber(stock) < tonumber(ARGV[3]) + tonumber(ARGV[4]) then return {'sold out', ''} end
        redis.call('DECRBY', KEYS[1], ARGV[3])
        redis.call('HSET', KEYS[2], ARGV[1], ARGV[2])
        return {'sold', ''}",
    )
});

pub fn stock_of(item: &str) -> String {
    format!("stock:{{{item}}}")
}

pub fn orders_of(item: &str) -> String {
    format!("orders:{{{item}}}")
}

pub fn segments_of(item: &str) -> String {
    format!("segments:{{{item}}}")
}

pub fn reserves_of(item: &str) -> String {
    format!("reserves:{{{item}}}")
}

impl RedisStore {
    pub async fn connect(url: &str, instance: &str) -> Result<Self> {
        let client = redis::Client::open(url)?;
        // In a crowd on a slow computer a response may take longer than the default limit of half a second.
        let config = ConnectionManagerConfig::new().set_response_timeout(Some(Duration::from_secs(20)));
        Ok(Self {
            connection: client.get_connection_manager_with_config(config).await?,
            instance: instance.to_owned(),
        })
    }

    fn to(&self) -> ConnectionManager {
        self.connection.clone()
    }

    pub fn entry(&self, order: &Order) -> String {
        let Order {
            quantity, buyer, key, ..
        } = order;
        let instance = &self.instance;
        json!({ "quantity": quantity, "buyer": buyer, "idempotency_key": key, "instance": instance }).to_string()
    }

    pub async fn close(&self, item: &str) -> Result<()> {
        let keys = [stock_of(item), segments_of(item), orders_of(item), reserves_of(item)];
        Ok(self.to().del(&keys).await?)
    }

    pub async fn stock(&self, item: &str) -> Result<Option<i64>> {
        Ok(self.to().get(stock_of(item)).await?)
    }

    pub async fn put_stock(&self, item: &str, stock: i64) -> Result<()> {
        Ok(self.to().set(stock_of(item), stock).await?)
    }

    pub async fn change(&self, item: &str, by: i64) -> Result<()> {
        Ok(self.to().incr(stock_of(item), by).await?)
    }

    pub async fn take(&self, item: &str, units: i64, keep: i64) -> Result<bool> {
        let mut call = TAKE.key(stock_of(item));
        Ok(call.arg(units).arg(keep).invoke_async(&mut self.to()).await?)
    }

    pub async fn find(&self, item: &str, id: &str) -> Result<Option<Order>> {
        let entry: Option<String> = self.to().hget(orders_of(item), id).await?;
        entry.map(|entry| parse(id, &entry)).transpose()
    }

    pub async fn orders(&self, item: &str) -> Result<Vec<Order>> {
        let entries: Vec<(String, String)> = self.to().hgetall(orders_of(item)).await?;
        entries.iter().map(|(id, entry)| parse(id, entry)).collect()
    }

    pub async fn record(&self, item: &str, order: &Order) -> Result<()> {
        self.put(item, &order.id, &self.entry(order)).await
    }

    /// Writes any text as an entry.
    pub async fn put(&self, item: &str, id: &str, entry: &str) -> Result<()> {
        Ok(self.to().hset(orders_of(item), id, entry).await?)
    }

    /// Writes any text as the counter.
    pub async fn put_counter(&self, item: &str, text: &str) -> Result<()> {
        Ok(self.to().set(stock_of(item), text).await?)
    }

    pub async fn remove_stock(&self, item: &str) -> Result<()> {
        Ok(self.to().del(stock_of(item)).await?)
    }

    /// Replaces the ledger by a list.
    pub async fn make_list(&self, item: &str) -> Result<()> {
        let mut list = pipe();
        list.atomic().del(orders_of(item)).ignore();
        list.rpush(orders_of(item), "an order").ignore();
        Ok(list.query_async(&mut self.to()).await?)
    }

    pub async fn record_all(&self, item: &str, orders: &[Order]) -> Result<()> {
        let mut all = pipe();
        for order in orders {
            all.hset(orders_of(item), &order.id, self.entry(order)).ignore();
        }
        Ok(all.query_async(&mut self.to()).await?)
    }

    pub async fn delete(&self, item: &str, id: &str) -> Result<()> {
        Ok(self.to().hdel(orders_of(item), id).await?)
    }

    pub async fn sell(&self, item: &str, order: &Order, units: i64, keep: i64) -> Result<Sale> {
        let mut call = SELL.key(stock_of(item));
        call.key(orders_of(item)).arg(&order.id).arg(self.entry(order));
        let (word, known): (String, String) = call.arg(units).arg(keep).invoke_async(&mut self.to()).await?;
        Ok(match word.as_str() {
            "sold" => Sale::Sold,
            "known" => Sale::Known(parse(&order.id, &known)?),
            "sold out" => Sale::SoldOut,
            "gone" => Sale::Gone,
            _ => bail!("the script said {word}"),
        })
    }
}

pub fn parse(id: &str, entry: &str) -> Result<Order> {
    let entry: Value = serde_json::from_str(entry).context("an entry is no JSON")?;
    let text = |name: &str| entry[name].as_str().map(str::to_owned);
    Ok(Order {
        id: id.to_owned(),
        quantity: entry["quantity"].as_i64().context("an entry has no quantity")?,
        buyer: text("buyer"),
        key: text("idempotency_key"),
    })
}
