//! A lock per item in Redis, for the shops that read, check and write inside one.

use std::sync::LazyLock;
use std::time::{Duration, Instant};

use anyhow::Result;
use redis::Script;
use uuid::Uuid;

use crate::answer::Answer;
use crate::fault;
use crate::store::Store;
use crate::visit::Visit;

static RELEASE: LazyLock<Script> = LazyLock::new(|| {
    Script::new("if redis.call('GET', KEYS[1]) == ARGV[1] then return redis.call('DEL', KEYS[1]) end return 0")
});

/// How long a lock outlives its holder, on top of the work.
const LEASE: Duration = Duration::from_secs(1);

/// Sells under the lock, waited for at most so long; `held` is what the others are told.
pub async fn sell(visit: &Visit, patience: Duration, held: Answer) -> Result<Answer> {
    if let Some(answer) = visit.no_sale_or_known().await? {
        return Ok(answer);
    }
    let token = Uuid::new_v4().to_string();
    let begun = Instant::now();
    while !lock(visit, &token).await? {
        if begun.elapsed() >= patience {
            return Ok(held);
        }
        tokio::time::sleep(Duration::from_millis(3)).await;
    }
    let answer = inside(visit).await;
    let mut release = RELEASE.key(key_of(visit.item()));
    release.arg(&token).invoke_async::<()>(&mut connection(visit)).await?;
    answer
}

async fn inside(visit: &Visit) -> Result<Answer> {
    let stock = visit.store().stock(visit.item()).await?;
    let enough = stock.is_some_and(|stock| stock >= visit.wish.quantity);
    visit.work().await;
    if let Some(answer) = fault::strike(visit).await? {
        return Ok(answer);
    }
    // A lease may run out under a paused process, so the write looks again.
    match (enough, visit.no_sale_or_known().await?) {
        (_, Some(answer)) => Ok(answer),
        (false, None) => Ok(Answer::SoldOut),
        (true, None) => visit.settle(0).await,
    }
}

async fn lock(visit: &Visit, token: &str) -> Result<bool> {
    let lease = LEASE + Duration::from_millis(visit.wish.work_ms);
    let mut set = redis::cmd("SET");
    set.arg(key_of(visit.item())).arg(token).arg("NX");
    set.arg("PX").arg(lease.as_millis() as u64);
    Ok(set
        .query_async::<Option<String>>(&mut connection(visit))
        .await?
        .is_some())
}

fn key_of(item: &str) -> String {
    format!("lie:{{{item}}}:lock")
}

fn connection(visit: &Visit) -> redis::aio::ConnectionManager {
    match &visit.shop.redis {
        Store::Redis(store) => store.connection.clone(),
        Store::Sql(_) => unreachable!("this one is Redis"),
    }
}
