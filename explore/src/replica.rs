//! A replica of the Redis that keeps the locks. It lags behind by one write.

use anyhow::{Context, Result};
use redis::aio::MultiplexedConnection;
use redis::{Script, cmd};

/// The replica, as two more databases of the same Redis.
pub struct Replica {
    script: Script,
    /// The changes that Redis had counted when the replica was asked last.
    changes: i64,
    lags: bool,
}

impl Replica {
    /// Creates a replica that knows nothing.
    pub fn new() -> Self {
        Self {
            script: Script::new(include_str!("replica.lua")),
            changes: -1,
            lags: false,
        }
    }

    /// Begins with the data that Redis has.
    ///
    /// # Errors
    /// When Redis does not answer.
    pub async fn begin(&mut self, redis: &mut MultiplexedConnection) -> Result<()> {
        self.follow(redis).await?;
        self.lags = false;
        Ok(())
    }

    /// Follows the writes since the last call, as one. Returns whether the replica lacks a write.
    ///
    /// # Errors
    /// When Redis does not answer.
    pub async fn lags(&mut self, redis: &mut MultiplexedConnection) -> Result<bool> {
        self.lags |= self.follow(redis).await?;
        Ok(self.lags)
    }

    /// Puts the replica in the place of Redis. Its connections stay.
    ///
    /// # Errors
    /// When Redis does not answer.
    pub async fn take_over(&self, redis: &mut MultiplexedConnection) -> Result<()> {
        let swapped = cmd("SWAPDB").arg(0).arg(2).query_async(redis).await;
        swapped.context("Redis")
    }

    async fn follow(&mut self, redis: &mut MultiplexedConnection) -> Result<bool> {
        let followed = self.script.arg(self.changes).invoke_async(redis).await;
        let (changes, has_changed): (i64, bool) = followed.context("Redis")?;
        self.changes = changes;
        Ok(has_changed)
    }
}
