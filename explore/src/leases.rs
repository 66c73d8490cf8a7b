//! The leases that the stores keep, and their end.

use std::time::Duration;

use anyhow::{Context, Result};
use redis::aio::MultiplexedConnection;
use redis::{AsyncConnectionConfig, Client, Script};
use sqlx::{Connection, MySqlConnection, query, query_scalar};
use stack::{ServiceKind, Stores};

/// Counts the keys that end by themselves and, if asked, deletes them, as Redis does when their time is over.
const LEASES: &str = "local ends = 0 \
                      for _, key in ipairs(redis.call('KEYS', '*')) do \
                        if redis.call('PTTL', key) >= 0 then \
                          ends = ends + 1 \
                          if ARGV[1] == 'end' then redis.call('DEL', key) end \
                        end \
                      end \
                      return ends";

/// The longest wait for an answer of Redis. Only one that no longer answers takes so long.
const ANSWERS_WITHIN: Duration = Duration::from_secs(60);

/// Counts the rows of `lock-table` whose time is not over.
const ROWS: &str = "select count(*) from locks where expires_at >= utc_timestamp(6)";

/// Ends them.
const END_ROWS: &str =
    "update locks set expires_at = utc_timestamp(6) - interval 1 second where expires_at >= utc_timestamp(6)";

/// The leases of locks in Redis, in the nodes of `redlock` and in MariaDB.
pub struct Leases {
    redis: Vec<MultiplexedConnection>,
    sql: MySqlConnection,
    script: Script,
}

impl Leases {
    /// Connects to the stores.
    ///
    /// # Errors
    /// When one cannot be reached.
    pub async fn connect(stores: &Stores) -> Result<Self> {
        let nodes = stores.services().filter(|(kind, _)| *kind == ServiceKind::RedisNodes);
        let nodes = nodes.flat_map(|(_, urls)| urls).map(String::as_str);
        let mut redis = Vec::new();
        for url in [stores.redis_url()].into_iter().chain(nodes) {
            let client = Client::open(url).context("the URL of Redis")?;
            let patient = AsyncConnectionConfig::new().set_response_timeout(Some(ANSWERS_WITHIN));
            let connection = client.get_multiplexed_async_connection_with_config(&patient).await;
            redis.push(connection.context("Redis, which keeps the leases")?);
        }
        let sql = MySqlConnection::connect(stores.sql_url()).await;
        Ok(Self {
            redis,
            sql: sql.context("MariaDB, which keeps leases")?,
            script: Script::new(LEASES),
        })
    }

    /// Returns whether there are leases.
    ///
    /// # Errors
    /// When a store does not answer.
    pub async fn are_there(&mut self) -> Result<bool> {
        if self.in_redis("count").await? > 0 {
            return Ok(true);
        }
        let rows: i64 = query_scalar(ROWS).fetch_one(&mut self.sql).await.context("MariaDB")?;
        Ok(rows > 0)
    }

    /// Ends them.
    ///
    /// # Errors
    /// When a store does not answer.
    pub async fn end(&mut self) -> Result<()> {
        self.in_redis("end").await?;
        query(END_ROWS).execute(&mut self.sql).await.context("MariaDB")?;
        Ok(())
    }

    async fn in_redis(&mut self, what: &str) -> Result<u64> {
        let mut leases = 0;
        for redis in &mut self.redis {
            let ends: u64 = self.script.arg(what).invoke_async(redis).await.context("Redis")?;
            leases += ends;
        }
        Ok(leases)
    }
}
