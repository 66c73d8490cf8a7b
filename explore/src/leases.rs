//! The leases that the stores keep, and their end: every clock is moved on by more than a lease.

use std::time::Duration;

use anyhow::{Context, Result, ensure};
use app::probe::Time;
use redis::aio::MultiplexedConnection;
use redis::{AsyncConnectionConfig, Client, Script};
use sqlx::{Connection, MySqlConnection, PgConnection, query_scalar};
use stack::{Clock, ServiceKind, Stores};

use crate::instances::{Kind, NEVER};

/// The time that passes at once where leases end: longer than a lease.
const PASSES: Duration = NEVER.lease.saturating_add(Duration::from_secs(1));

/// The time after which a renewal is due: a little longer than a third of a lease.
pub const RENEWED_AFTER: Duration = Duration::from_secs(NEVER.lease.as_secs() / 3 + 1);

/// How often it passes in one event, which is longer than a lease.
pub const RENEWALS: usize = 4;

/// Counts the keys that end by themselves.
const LEASES: &str = "local ends = 0 \
                      for _, key in ipairs(redis.call('KEYS', '*')) do \
                        if redis.call('PTTL', key) >= 0 then ends = ends + 1 end \
                      end \
                      return ends";

/// The longest wait for an answer of Redis. Only one that no longer answers takes so long.
const ANSWERS_WITHIN: Duration = Duration::from_secs(60);

/// Counts the rows of `lock-table` whose time is not over.
const ROWS: &str = "select count(*) from locks where expires_at >= utc_timestamp(6)";

const ROWS_OF_POSTGRES: &str = "select count(*) from locks where expires_at >= clock_timestamp()";

/// The leases of locks in Redis, in the nodes of `redlock`, in a Redis Cluster, in MariaDB and in PostgreSQL.
pub struct Leases {
    redis: Vec<MultiplexedConnection>,
    sql: MySqlConnection,
    pg: Option<PgConnection>,
    script: Script,
    clocks: Vec<Clock>,
    time: Time,
}

impl Leases {
    /// Connects to the stores of instances of this kind that go by this time.
    ///
    /// # Errors
    /// When one cannot be reached, or has no clock of its own.
    pub async fn connect(stores: &Stores, kind: &Kind, time: Time) -> Result<Self> {
        let kinds = [ServiceKind::Redis, ServiceKind::Sql].into_iter();
        let further = stores.services().map(|(kind, _)| kind);
        let clocks = kinds.chain(further).flat_map(|kind| stores.processes(kind));
        let clocks: Vec<Clock> = clocks.filter_map(|service| service.clock().cloned()).collect();
        ensure!(
            clocks.len() >= 2,
            "the stores have no clocks of their own on this system"
        );
        // The primaries of a cluster come first, each with a replica behind them.
        let nodes = kind.needed(stores).flat_map(|(kind, urls)| match kind {
            ServiceKind::RedisNodes => urls,
            ServiceKind::Cluster => &urls[..urls.len() / 2],
            _ => &[],
        });
        let nodes = nodes.map(String::as_str);
        let mut redis = Vec::new();
        for url in [stores.redis_url()].into_iter().chain(nodes) {
            let client = Client::open(url).context("the URL of Redis")?;
            let patient = AsyncConnectionConfig::new().set_response_timeout(Some(ANSWERS_WITHIN));
            let connection = client.get_multiplexed_async_connection_with_config(&patient).await;
            redis.push(connection.context("Redis, which keeps the leases")?);
        }
        let sql = MySqlConnection::connect(stores.sql_url()).await;
        let mut pg = None;
        for (_, urls) in kind.needed(stores).filter(|(kind, _)| *kind == ServiceKind::Pg) {
            let url = urls.first().context("PostgreSQL has no URL")?;
            let connected = PgConnection::connect(url).await;
            pg = Some(connected.context("PostgreSQL, which keeps leases")?);
        }
        Ok(Self {
            redis,
            sql: sql.context("MariaDB, which keeps leases")?,
            pg,
            script: Script::new(LEASES),
            clocks,
            time,
        })
    }

    /// Returns whether there are leases.
    ///
    /// # Errors
    /// When a store does not answer.
    pub async fn are_there(&mut self) -> Result<bool> {
        for redis in &mut self.redis {
            let leases: u64 = self.script.invoke_async(redis).await.context("Redis")?;
            if leases > 0 {
                return Ok(true);
            }
        }
        let mut rows: i64 = query_scalar(ROWS).fetch_one(&mut self.sql).await.context("MariaDB")?;
        if let Some(pg) = &mut self.pg {
            let more = query_scalar::<_, i64>(ROWS_OF_POSTGRES).fetch_one(pg).await;
            rows += more.context("PostgreSQL")?;
        }
        Ok(rows > 0)
    }

    /// Returns whether Redis has any data.
    ///
    /// # Errors
    /// When Redis does not answer.
    pub async fn has_redis_data(&mut self) -> Result<bool> {
        let keys: u64 = redis::cmd("DBSIZE")
            .query_async(self.lock_store()?)
            .await
            .context("Redis")?;
        Ok(keys > 0)
    }

    /// Deletes the data of Redis, as a restart without persistence does. Its connections stay.
    ///
    /// # Errors
    /// When Redis does not answer.
    pub async fn empty_redis(&mut self) -> Result<()> {
        let emptied = redis::cmd("FLUSHALL").query_async(self.lock_store()?).await;
        emptied.context("Redis")
    }

    /// Returns the Redis that keeps the locks.
    ///
    /// # Errors
    /// None that is known.
    pub fn lock_store(&mut self) -> Result<&mut MultiplexedConnection> {
        self.redis.first_mut().context("no Redis")
    }

    /// Ends them: more time than a lease passes for the stores and the instances.
    ///
    /// # Errors
    /// When a clock cannot be moved on.
    pub fn end(&self) -> Result<()> {
        self.let_pass(PASSES)
    }

    /// Lets so much time pass for the stores and the instances.
    ///
    /// # Errors
    /// When a clock cannot be moved on.
    pub fn let_pass(&self, length: Duration) -> Result<()> {
        for clock in &self.clocks {
            clock.run_ahead(length)?;
        }
        self.time.move_on(length);
        Ok(())
    }
}
