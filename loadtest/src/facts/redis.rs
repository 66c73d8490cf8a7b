//! Facts from Redis: `stock:{item}`, with the parts of the counter in the hash `segments:{item}` where there are some, and
//! `orders:{item}` as a hash of order id to JSON.

use std::collections::HashSet;

use anyhow::{Result, bail};
use async_trait::async_trait;
use redis::aio::MultiplexedConnection;
use redis::{AsyncConnectionConfig, Client, Cmd, ConnectionAddr, FromRedisValue, RedisError, RedisResult, cmd, pipe};
use serde::Deserialize;
use tokio::net::{TcpStream, UnixStream};

use super::idle::Idle;
use super::metered::{Meter, Metered};
use super::{Facts, Ledger, MOST_OTHER_ITEMS, MOST_OTHER_ORDERS, Order, READ_WITHIN};

/// The most bytes of a ledger entry, with its id. Entries of an honest shop have fewer than 300.
const ENTRY: usize = 1024;

/// The most bytes of everything else in an answer.
const OVERHEAD: usize = 64 * 1024;

/// The most segments of a counter. No honest shop needs a thousand.
const MOST_SEGMENTS: usize = 1_000;

/// The most keys that are looked through for orders of other items, and how many of them at once.
const MOST_KEYS: usize = 100_000;
const SCANNED_AT_ONCE: usize = 1_000;

pub(super) struct Redis {
    client: Client,
    idle: Idle<Connection>,
}

struct Connection {
    commands: MultiplexedConnection,
    meter: Meter,
}

/// Order id and JSON text, as raw bytes.
type RawEntry = (Vec<u8>, Vec<u8>);

#[derive(Deserialize)]
struct Entry {
    quantity: i64,
    buyer: Option<String>,
    idempotency_key: Option<String>,
}

impl Redis {
    pub(super) fn new(url: &str) -> Result<Self> {
        Ok(Self::of(Client::open(url)?))
    }

    pub(super) fn of(client: Client) -> Self {
        Self {
            client,
            idle: Idle::default(),
        }
    }

    /// Returns the answer to a command that asks for little.
    pub(super) async fn ask<T: FromRedisValue>(&self, command: &Cmd) -> Result<T> {
        if let Some(idle) = self.idle.pop()
            && let Ok(answer) = self.ask_on(idle, command).await
        {
            return Ok(answer);
        }
        self.ask_on(self.connect(OVERHEAD).await?, command).await
    }

    async fn ask_on<T: FromRedisValue>(&self, mut connection: Connection, command: &Cmd) -> Result<T> {
        connection.meter.allow(OVERHEAD);
        let answer = command.query_async(&mut connection.commands).await?;
        self.idle.push(connection);
        Ok(answer)
    }

    /// Reads counter and ledger under the keys of `item`. A counter that is not there counts as `absent`, if that is a number.
    pub(super) async fn read_keys(&self, item: &str, limit: usize, absent: Option<i64>) -> Result<Facts> {
        let bytes = limit * ENTRY + OVERHEAD;
        // An idle connection may lead to a store that was restarted meanwhile.
        if let Some(idle) = self.idle.pop()
            && let Ok(facts) = self.read_on(idle, item, limit, absent).await
        {
            return Ok(facts);
        }
        self.read_on(self.connect(bytes).await?, item, limit, absent).await
    }

    async fn read_on(
        &self,
        mut connection: Connection,
        item: &str,
        limit: usize,
        absent: Option<i64>,
    ) -> Result<Facts> {
        connection.meter.allow(limit * ENTRY + OVERHEAD);
        match facts(&mut connection.commands, item, limit, absent).await {
            Ok(facts) => {
                self.idle.push(connection);
                Ok(facts)
            }
            Err(_) if connection.meter.is_spent() => Ok(Facts {
                cut_short: true,
                ..Facts::default()
            }),
            Err(error) if is_of_wrong_type(&error) => Ok(Facts {
                unreadable: 1,
                ..Facts::default()
            }),
            Err(error) => Err(error.into()),
        }
    }

    async fn connect(&self, bytes: usize) -> Result<Connection> {
        let info = self.client.get_connection_info();
        let meter = Meter::default();
        meter.allow(bytes);
        let commands = match info.addr() {
            ConnectionAddr::Tcp(host, port) => {
                let stream = TcpStream::connect((host.as_str(), *port)).await?;
                stream.set_nodelay(true)?;
                drive(info.redis_settings(), stream, &meter).await?
            }
            ConnectionAddr::Unix(path) => {
                drive(info.redis_settings(), UnixStream::connect(path).await?, &meter).await?
            }
            _ => bail!("only redis://, redis+unix:// and unix:// are read"),
        };
        Ok(Connection { commands, meter })
    }
}

#[async_trait]
impl Ledger for Redis {
    async fn read(&self, item: &str, limit: usize) -> Result<Facts> {
        self.read_keys(item, limit, None).await
    }

    async fn elsewhere(&self, items: &HashSet<&str>) -> Result<Vec<Order>> {
        let mut connection = self.connect(OVERHEAD + MOST_KEYS * ENTRY).await?;
        let known: HashSet<Vec<u8>> = items.iter().map(|item| orders_of(item).into_bytes()).collect();
        let mut others = Vec::new();
        let (mut cursor, mut seen) = (0_u64, 0);
        loop {
            let mut scan = cmd("SCAN");
            scan.arg(cursor)
                .arg("MATCH")
                .arg("orders:*")
                .arg("COUNT")
                .arg(SCANNED_AT_ONCE);
            let (next, keys): (u64, Vec<Vec<u8>>) = scan.query_async(&mut connection.commands).await?;
            seen += SCANNED_AT_ONCE;
            others.extend(keys.into_iter().filter(|key| !known.contains(key)));
            cursor = next;
            if cursor == 0 || seen >= MOST_KEYS || others.len() >= MOST_OTHER_ITEMS {
                break;
            }
        }
        let mut orders = Vec::new();
        for key in others.into_iter().take(MOST_OTHER_ITEMS) {
            connection.meter.allow(OVERHEAD + MOST_OTHER_ORDERS * ENTRY);
            let mut all = cmd("HGETALL");
            match all
                .arg(key)
                .query_async::<Vec<RawEntry>>(&mut connection.commands)
                .await
            {
                Ok(entries) => orders.extend(entries.into_iter().filter_map(order)),
                Err(error) if is_of_wrong_type(&error) => {}
                Err(error) => return Err(error.into()),
            }
        }
        Ok(orders)
    }

    async fn version(&self) -> Result<String> {
        let mut connection = self.connect(OVERHEAD).await?;
        let info: String = cmd("INFO").arg("server").query_async(&mut connection.commands).await?;
        let version = info.lines().find_map(|line| line.strip_prefix("redis_version:"));
        Ok(version.unwrap_or("unknown").trim().to_owned())
    }
}

/// Returns whether a key has another type than in the contract.
pub(super) fn is_of_wrong_type(error: &RedisError) -> bool {
    let errors = error.clone().into_server_errors();
    errors
        .iter()
        .flat_map(|errors| errors.iter())
        .any(|(_, error)| error.code() == "WRONGTYPE")
}

/// Starts the driver of a connection. It ends when the connection's last handle is dropped.
async fn drive<S>(settings: &redis::RedisConnectionInfo, stream: S, meter: &Meter) -> RedisResult<MultiplexedConnection>
where
    S: tokio::io::AsyncRead + tokio::io::AsyncWrite + Unpin + Send + 'static,
{
    let meter = meter.clone();
    let stream = Metered { stream, meter };
    let limits = AsyncConnectionConfig::new().set_response_timeout(Some(READ_WITHIN));
    let (commands, driver) = MultiplexedConnection::new_with_config(settings, stream, limits).await?;
    tokio::spawn(driver);
    Ok(commands)
}

async fn facts(
    redis: &mut MultiplexedConnection,
    item: &str,
    limit: usize,
    absent: Option<i64>,
) -> Result<Facts, RedisError> {
    let [stock, segments] = ["stock", "segments"].map(|what| format!("{what}:{{{item}}}"));
    let orders = orders_of(item);
    let mut all = pipe();
    all.atomic().get(&stock).hvals(&segments).hgetall(&orders);
    let (counter, segments, entries): (Option<Vec<u8>>, Vec<Vec<u8>>, Vec<RawEntry>) = all.query_async(redis).await?;
    let length = entries.len();
    let mut orders: Vec<Order> = entries.into_iter().filter_map(order).collect();
    orders.sort();
    let counter = counter.or_else(|| Some(absent?.to_string().into_bytes()));
    Ok(Facts {
        stock_left: counter.and_then(|counter| left(counter, segments)),
        unreadable: length - orders.len(),
        cut_short: length > limit,
        in_parts: false,
        orders,
    })
}

/// Returns the key of an item's orders.
fn orders_of(item: &str) -> String {
    format!("orders:{{{item}}}")
}

/// Returns the sum of the counter and its segments; `None` where one of them is not a number, or there are too many.
fn left(counter: Vec<u8>, segments: Vec<Vec<u8>>) -> Option<i64> {
    if segments.len() > MOST_SEGMENTS {
        return None;
    }
    let whole = number(counter)?;
    segments
        .into_iter()
        .try_fold(whole, |sum, part| sum.checked_add(number(part)?))
}

fn number(text: Vec<u8>) -> Option<i64> {
    String::from_utf8(text).ok()?.parse().ok()
}

/// Returns the order of an entry; `None` when the entry does not follow the contract.
fn order((id, entry): RawEntry) -> Option<Order> {
    let entry: Entry = serde_json::from_slice(&entry).ok()?;
    Some(Order {
        id: String::from_utf8(id).ok()?,
        quantity: entry.quantity,
        buyer: entry.buyer,
        key: entry.idempotency_key,
    })
}
