//! A lock for each item in Redis, for the shops that read, check and write under a lock.

use std::sync::LazyLock;
use std::time::{Duration, Instant};

use anyhow::Result;
use redis::Script;
use uuid::Uuid;

use crate::answer::Answer;
use crate::fault;
use crate::purchase::Purchase;
use crate::store::Store;

static RELEASE: LazyLock<Script> = LazyLock::new(|| {
    Script::new("if redis.call('GET', KEYS[1]) == ARGV[1] then return redis.call('DEL', KEYS[1]) end return 0")
});

/// The lease of the lock, in addition to the work time.
const LEASE: Duration = Duration::from_secs(1);

/// Sells under the lock, after a wait of at most `timeout`. A purchase that gets no lock is answered `held`.
pub async fn sell(purchase: &Purchase, timeout: Duration, held: Answer) -> Result<Answer> {
    if let Some(answer) = purchase.no_sale_or_known().await? {
        return Ok(answer);
    }
    let token = Uuid::new_v4().to_string();
    let begun = Instant::now();
    while !lock(purchase, &token).await? {
        if begun.elapsed() >= timeout {
            return Ok(held);
        }
        tokio::time::sleep(Duration::from_millis(3)).await;
    }
    let answer = inside(purchase).await;
    let mut release = RELEASE.key(key_of(purchase.item()));
    release
        .arg(&token)
        .invoke_async::<()>(&mut connection(purchase))
        .await?;
    answer
}

async fn inside(purchase: &Purchase) -> Result<Answer> {
    let stock = purchase.store().stock(purchase.item()).await?;
    let enough = stock.is_some_and(|stock| stock >= purchase.request.quantity);
    purchase.work().await;
    if let Some(answer) = fault::inject(purchase).await? {
        return Ok(answer);
    }
    // The lease may end while the process is paused, so the store is read again before the write.
    match (enough, purchase.no_sale_or_known().await?) {
        (_, Some(answer)) => Ok(answer),
        (false, None) => Ok(Answer::SoldOut),
        (true, None) => purchase.settle(0).await,
    }
}

async fn lock(purchase: &Purchase, token: &str) -> Result<bool> {
    let lease = LEASE + Duration::from_millis(purchase.request.work_ms);
    let mut set = redis::cmd("SET");
    set.arg(key_of(purchase.item())).arg(token).arg("NX");
    set.arg("PX").arg(lease.as_millis() as u64);
    Ok(set
        .query_async::<Option<String>>(&mut connection(purchase))
        .await?
        .is_some())
}

fn key_of(item: &str) -> String {
    format!("lie:{{{item}}}:lock")
}

fn connection(purchase: &Purchase) -> redis::aio::ConnectionManager {
    match &purchase.shop.redis {
        Store::Redis(store) => store.connection.clone(),
        Store::Sql(_) => unreachable!("this one is Redis"),
    }
}
