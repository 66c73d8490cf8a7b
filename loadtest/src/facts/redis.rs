//! Facts from Redis: `stock:{item}`, and `orders:{item}` as a hash of order id to JSON.

use anyhow::{Context, Result};
use redis::aio::{ConnectionManager, ConnectionManagerConfig};
use redis::pipe;
use serde::Deserialize;

use super::{Facts, Order};
use crate::shop::ANSWER_WITHIN;

pub(super) struct Redis {
    connection: ConnectionManager,
}

#[derive(Deserialize)]
struct Entry {
    quantity: i64,
    idempotency_key: Option<String>,
}

impl Redis {
    pub(super) async fn connect(url: &str) -> Result<Self> {
        let config = ConnectionManagerConfig::new()
            .set_response_timeout(Some(ANSWER_WITHIN))
            .set_number_of_retries(2);
        let client = redis::Client::open(url)?;
        let connection = client.get_connection_manager_with_config(config).await?;
        Ok(Self { connection })
    }

    pub(super) async fn read(&self, item: &str, limit: usize) -> Result<Facts> {
        let mut connection = self.connection.clone();
        let (stock, orders) = (format!("stock:{{{item}}}"), format!("orders:{{{item}}}"));
        let length: usize = redis::cmd("HLEN").arg(&orders).query_async(&mut connection).await?;
        if length > limit {
            let stock_left: Option<i64> = redis::cmd("GET").arg(&stock).query_async(&mut connection).await?;
            return Ok(Facts {
                stock_left: stock_left.context("no such sale is open")?,
                orders: Vec::new(),
                cut_short: true,
            });
        }
        let (stock_left, entries): (Option<i64>, Vec<(String, String)>) = pipe()
            .atomic()
            .get(&stock)
            .hgetall(&orders)
            .query_async(&mut connection)
            .await?;
        let orders = entries.into_iter().map(|(id, entry)| order(id, &entry));
        let mut orders = orders.collect::<Result<Vec<_>>>()?;
        orders.sort();
        Ok(Facts {
            stock_left: stock_left.context("no such sale is open")?,
            orders,
            cut_short: false,
        })
    }

    pub(super) async fn version(&self) -> Result<String> {
        let info: String = redis::cmd("INFO")
            .arg("server")
            .query_async(&mut self.connection.clone())
            .await?;
        let version = info.lines().find_map(|line| line.strip_prefix("redis_version:"));
        Ok(version.unwrap_or("unknown").trim().to_owned())
    }
}

fn order(id: String, entry: &str) -> Result<Order> {
    let Entry {
        quantity,
        idempotency_key,
    } = serde_json::from_str(entry).with_context(|| format!("order {id} is not as the contract has it"))?;
    Ok(Order {
        id,
        quantity,
        key: idempotency_key,
    })
}
