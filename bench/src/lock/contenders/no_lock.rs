//! No lock: one script decrements a counter, the work that most locks protect. No lock can be faster.

use std::sync::Arc;

use anyhow::Result;
use async_trait::async_trait;
use redis::aio::MultiplexedConnection;
use redis::{Client, Script};

use super::super::lock_kind::{Held, Lock, LockKind};

/// Decrements the counter. At 0 it starts again, so that each call does the same work.
const TAKE: &str = r"
local left = tonumber(redis.call('get', KEYS[1]) or '0')
if left <= 0 then
    left = 1000000
end
redis.call('set', KEYS[1], left - 1)
return left
";

pub struct NoLock;

struct Counter {
    connection: MultiplexedConnection,
    take: Script,
}

struct Nothing;

#[async_trait]
impl LockKind for NoLock {
    fn name(&self) -> &str {
        "no-lock"
    }

    fn sends(&self) -> &'static [&'static str] {
        &["evalsha"]
    }

    fn is_lock(&self) -> bool {
        false
    }

    async fn connect(&self, url: &str) -> Result<Arc<dyn Lock>> {
        Ok(Arc::new(Counter {
            connection: Client::open(url)?.get_multiplexed_async_connection().await?,
            take: Script::new(TAKE),
        }))
    }
}

#[async_trait]
impl Lock for Counter {
    async fn lock(&self, name: &str) -> Result<Box<dyn Held>> {
        let mut connection = self.connection.clone();
        self.take.key(name).invoke_async::<i64>(&mut connection).await?;
        Ok(Box::new(Nothing))
    }
}

#[async_trait]
impl Held for Nothing {
    async fn release(self: Box<Self>) -> Result<()> {
        Ok(())
    }
}
