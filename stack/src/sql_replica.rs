//! The replica of an SQL database, whichever it is.

use anyhow::{Context, Result, bail};

use crate::mariadb::{MariaDbFailover, MariaDbReplica};
use crate::postgres::{PgFailover, PgReplica};
use crate::service::Service;
use crate::service_kind::ServiceKind;
use crate::stores::Stores;

/// An asynchronous replica that follows its primary. It stops on drop.
pub enum SqlReplica {
    /// Of MariaDB.
    MariaDb(MariaDbReplica),
    /// Of PostgreSQL.
    Postgres(PgReplica),
}

/// A replica that was promoted while its primary still serves. It stops on drop.
pub enum SqlFailover {
    /// Of MariaDB.
    MariaDb(MariaDbFailover),
    /// Of PostgreSQL.
    Postgres(PgFailover),
}

impl SqlReplica {
    /// Waits until it has caught up, cuts the connection to its primary, and promotes it. Later commits never reach it.
    ///
    /// # Errors
    ///
    /// When it does not catch up within some seconds, or does not answer.
    pub fn partition(self) -> Result<SqlFailover> {
        Ok(match self {
            Self::MariaDb(replica) => SqlFailover::MariaDb(replica.partition()?),
            Self::Postgres(replica) => SqlFailover::Postgres(replica.partition()?),
        })
    }
}

impl Stores {
    /// Starts a replica of that database and waits until it has caught up. MariaDB is restarted before, so that it writes a
    /// binary log. There can be one at a time.
    ///
    /// # Errors
    ///
    /// When the database was not started here, or one of them does not start or catch up within some seconds.
    pub fn replicate_sql(&self, kind: ServiceKind) -> Result<SqlReplica> {
        let primary = self.database(kind)?;
        match kind {
            ServiceKind::Sql => Ok(SqlReplica::MariaDb(MariaDbReplica::start(primary, self.folder())?)),
            ServiceKind::Pg => Ok(SqlReplica::Postgres(PgReplica::start(self.folder())?)),
            _ => bail!("{kind} cannot be replicated here"),
        }
    }

    /// Kills the database and lets the promoted replica serve at its address, as its process. A MariaDB then writes no binary
    /// log. Returns how many transactions that loses.
    ///
    /// # Errors
    ///
    /// When one of them does not answer, or the promoted one cannot take the place of the other.
    pub fn fail_over_sql(&self, failover: SqlFailover) -> Result<u64> {
        match failover {
            SqlFailover::MariaDb(failover) => failover.complete(self.database(ServiceKind::Sql)?),
            SqlFailover::Postgres(failover) => failover.complete(self.database(ServiceKind::Pg)?),
        }
    }

    fn database(&self, kind: ServiceKind) -> Result<&Service> {
        let process = self.processes(kind).first();
        process.with_context(|| format!("{kind} was not started here"))
    }
}
