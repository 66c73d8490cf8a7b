//! The leases that the stores keep, and their end.

use anyhow::{Context, Result};
use redis::aio::MultiplexedConnection;
use redis::{Client, Script};

/// Counts the keys that end by themselves and, if asked, deletes them, as Redis does when their time is over.
const LEASES: &str = "local ends = 0 \
                      for _, key in ipairs(redis.call('KEYS', '*')) do \
                        if redis.call('PTTL', key) >= 0 then \
                          ends = ends + 1 \
                          if ARGV[1] == 'end' then redis.call('DEL', key) end \
                        end \
                      end \
                      return ends";

/// The leases of locks in Redis. The leases of `lock-table` in MariaDB are not among them.
pub struct Leases {
    connection: MultiplexedConnection,
    script: Script,
}

impl Leases {
    /// Connects to Redis.
    ///
    /// # Errors
    /// When it cannot be reached.
    pub async fn connect(url: &str) -> Result<Self> {
        let client = Client::open(url).context("the URL of Redis")?;
        let connection = client.get_multiplexed_async_connection().await;
        Ok(Self {
            connection: connection.context("Redis, which keeps the leases")?,
            script: Script::new(LEASES),
        })
    }

    /// Returns the number of leases.
    ///
    /// # Errors
    /// When Redis does not answer.
    pub async fn count(&mut self) -> Result<u64> {
        self.run("count").await
    }

    /// Ends them.
    ///
    /// # Errors
    /// When Redis does not answer.
    pub async fn end(&mut self) -> Result<()> {
        self.run("end").await.map(drop)
    }

    async fn run(&mut self, what: &str) -> Result<u64> {
        let ends = self.script.arg(what).invoke_async(&mut self.connection).await;
        ends.context("Redis")
    }
}
