//! A database that speaks SQL, and what it says of the purchases that wait in it.

use anyhow::{Context, Result};
use sqlx::{Connection, MySqlConnection, PgConnection, Row, query, query_as, query_scalar, raw_sql};

/// Lists the transactions as they are now. The tables of the information schema may be 100 ms old, and the counter of waits
/// falls only when the thread that waited runs again, which is later than its lock was granted.
const TRANSACTIONS: &str = "show engine innodb status";

/// The begin of their list. The latest deadlock stands before it, with transactions that no longer wait.
const LIST: &str = "\nLIST OF TRANSACTIONS ";

/// The begin of the line of a transaction that waits for the lock of a row.
const WAITS: &str = "\nLOCK WAIT ";

/// Lists the connections. The table of the information schema has the same, but MariaDB writes that to a file for each query.
const CONNECTIONS: &str = "show processlist";

/// The state of a connection that waits for a named lock, and of one that has just got it.
const NAMED_LOCK: &str = "User lock";

/// The command of a connection that carries out none.
const IDLE: &str = "Sleep";

/// Returns the connection that holds the named lock of an item.
const HOLDER: &str = "select is_used_lock(?)";

/// Counts the connections of a program that wait for a lock, and all of them. The table of locks says who waits: there a lock is
/// granted at once, and not when the process that waited runs again. Those that wait for each other do not count: PostgreSQL is
/// about to end one of them.
const BACKENDS: &str = "with recursive
    ours as (select pid from pg_stat_activity where application_name = $1),
    blocked as (select pid, unnest(pg_blocking_pids(pid)) as by from ours),
    chain as (select pid, by from blocked union select chain.pid, blocked.by from chain join blocked on chain.by = blocked.pid)
    select (select count(distinct pid) from blocked) - (select count(distinct pid) from chain where pid = by),
           (select count(*) from ours)";

/// PostgreSQL looks for a deadlock only after a wait of this length, by default of a second.
const QUICK_DEADLOCKS: &str = "alter system set deadlock_timeout = '10ms'";
const RELOAD: &str = "select pg_reload_conf()";

/// A connection to a database in which purchases may wait.
pub enum SqlServer {
    /// MariaDB.
    MariaDb(MySqlConnection),
    /// PostgreSQL.
    Postgres(PgConnection),
}

impl SqlServer {
    /// Connects to a MariaDB.
    ///
    /// # Errors
    /// When it cannot be reached.
    pub async fn mariadb(url: &str) -> Result<Self> {
        let connected = MySqlConnection::connect(url).await;
        let connection = connected.context("MariaDB, which knows which purchases wait")?;
        Ok(Self::MariaDb(connection))
    }

    /// Connects to a PostgreSQL, and lets it look for deadlocks soon.
    ///
    /// # Errors
    /// When it cannot be reached.
    pub async fn postgres(url: &str) -> Result<Self> {
        let connected = PgConnection::connect(url).await;
        let mut connection = connected.context("PostgreSQL, which knows which purchases wait")?;
        for statement in [QUICK_DEADLOCKS, RELOAD] {
            let done = raw_sql(statement).execute(&mut connection).await;
            done.context("PostgreSQL")?;
        }
        Ok(Self::Postgres(connection))
    }

    /// Returns how many connections wait for a lock, and how many the instances have, which come as that user. A named lock is
    /// that of the item.
    ///
    /// # Errors
    /// When it does not answer.
    pub async fn waiting_and_all(&mut self, item: &str, user: &str) -> Result<(usize, u64)> {
        match self {
            Self::MariaDb(connection) => in_mariadb(connection, item, user).await,
            Self::Postgres(connection) => {
                let backends = query_as(BACKENDS).bind(user).fetch_one(connection).await;
                let (waiting, all): (i64, i64) = backends.context("PostgreSQL")?;
                Ok((usize::try_from(waiting)?, u64::try_from(all)?))
            }
        }
    }
}

async fn in_mariadb(server: &mut MySqlConnection, item: &str, user: &str) -> Result<(usize, u64)> {
    let (mut waiting, mut listed) = (0, 0_u64);
    let (mut at_named_lock, mut is_one_at_work) = (Vec::new(), false);
    for connection in query(CONNECTIONS).fetch_all(&mut *server).await.context("MariaDB")? {
        if connection.try_get::<&str, _>("User")? != user {
            continue;
        }
        listed += 1;
        is_one_at_work |= connection.try_get::<&str, _>("Command")? != IDLE;
        if connection.try_get::<Option<&str>, _>("State")? == Some(NAMED_LOCK) {
            at_named_lock.push(connection.try_get::<i64, _>("Id")?);
        }
    }
    // Only a statement waits, and the list of transactions is long.
    if is_one_at_work {
        let status = query(TRANSACTIONS).fetch_one(&mut *server).await.context("MariaDB")?;
        let status: String = status.try_get("Status")?;
        let (_, list) = status.split_once(LIST).context("MariaDB lists no transactions")?;
        waiting += list.matches(WAITS).count();
    }
    if !at_named_lock.is_empty() {
        let holder = query_scalar(HOLDER).bind(item).fetch_one(server).await;
        let holder: Option<i64> = holder.context("MariaDB")?;
        waiting += at_named_lock
            .iter()
            .filter(|id| holder.is_some_and(|holder| holder != **id))
            .count();
    }
    Ok((waiting, listed))
}
