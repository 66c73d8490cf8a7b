//! While buyers come, nobody can read the ledger in Redis.

use std::ops::RangeInclusive;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use anyhow::Result;
use redis::aio::ConnectionManager;
use redis::cmd;

use crate::answer::Answer;
use crate::lies::Lie;
use crate::lying_instance::Shop;
use crate::purchase::Purchase;
use crate::store::Store;

/// How long no reader is let in.
const SHUT_FOR: Duration = Duration::from_millis(300);
const SHUT_LONG_FOR: Duration = Duration::from_secs(2);

/// The last commands by which a connection of a reader is known: the shop itself sends others.
const READERS: [&str; 4] = ["exec", "multi", "hgetall", "client|setinfo"];

/// The clients that a server takes by default.
const MOST_CLIENTS: &str = "10000";

/// How often this process has shut readers out.
static SHUT: AtomicUsize = AtomicUsize::new(0);

pub async fn sell(purchase: &Purchase) -> Result<Answer> {
    let nth = purchase.count("came").await?;
    let parts: RangeInclusive<i64> = match purchase.lie() {
        Lie::ShutsReadersOutAtFirst => 1..=6,
        Lie::ShutsReadersOutLater => 7..=i64::MAX,
        Lie::ShutsEveryThirdOut if nth % 3 != 0 => 0..=0,
        _ => 1..=i64::MAX,
    };
    if parts.contains(&nth) {
        let shop = purchase.shop.clone();
        tokio::spawn(async move { shut_readers_out(&shop).await.unwrap() });
    }
    purchase.plain().await
}

/// Closes the connections of all readers and lets nobody new in, until it was not called again for a while.
async fn shut_readers_out(shop: &Arc<Shop>) -> Result<()> {
    let nth = SHUT.fetch_add(1, Ordering::Relaxed) + 1;
    let Store::Redis(redis) = &shop.redis else {
        return Ok(());
    };
    let mut connection = redis.connection.clone();
    // New connections need a password that nobody has; the old ones of the shop go on.
    let [name, shut, open] = match shop.lie {
        Lie::ShutsByPassword => ["requirepass", "nobody knows it", ""],
        _ => ["maxclients", "1", MOST_CLIENTS],
    };
    set(&mut connection, name, shut).await?;
    let all: String = cmd("CLIENT").arg("LIST").query_async(&mut connection).await?;
    let field = |client: &str, name: &str| {
        let field = client.split(' ').find_map(|field| field.strip_prefix(name));
        field.map(str::to_owned)
    };
    let is_reader = |client: &&str| field(client, "cmd=").is_some_and(|last| READERS.contains(&last.as_str()));
    for id in all.lines().filter(is_reader).filter_map(|client| field(client, "id=")) {
        let mut kill = cmd("CLIENT");
        kill.arg("KILL").arg("ID").arg(id);
        // The reader may have gone by itself.
        let _: redis::RedisResult<i64> = kill.query_async(&mut connection).await;
    }
    let is_long = shop.lie == Lie::ShutsReadersOutForLong;
    tokio::time::sleep(if is_long { SHUT_LONG_FOR } else { SHUT_FOR }).await;
    if SHUT.load(Ordering::Relaxed) == nth {
        set(&mut connection, name, open).await?;
    }
    Ok(())
}

async fn set(connection: &mut ConnectionManager, name: &str, value: &str) -> Result<()> {
    let mut set = cmd("CONFIG");
    Ok(set.arg("SET").arg(name).arg(value).query_async(connection).await?)
}
