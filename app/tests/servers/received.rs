//! The commands that the stores received: from MONITOR of Redis, the general log of MariaDB, the log of PostgreSQL, and counters of
//! the rest.

use std::fs::File;
use std::io::{BufReader, Read, Seek, SeekFrom};
use std::path::PathBuf;
use std::pin::Pin;

use app::probe::Effect;
use app::services::Services;
use app::stores::SECOND_SQL;
use app::stores::sql::Engine;
use futures_util::{Stream, StreamExt};
use redis::aio::MultiplexedConnection;
use sqlx::{Connection, MySqlConnection, PgConnection, Row, raw_sql};
use tokio::time::timeout;

use crate::counters::Counters;
use crate::harness::{LONG, fresh};
use crate::touched;

/// A data folder that was not initialised lacks the table of the log. No other layout is taken.
const LOG_TABLE: &str = "
create database if not exists mysql;
create table if not exists mysql.general_log (
    event_time timestamp(6) not null default current_timestamp(6) on update current_timestamp(6),
    user_host mediumtext not null,
    thread_id bigint(21) unsigned not null,
    server_id int(10) unsigned not null,
    command_type varchar(64) not null,
    argument mediumtext not null
) engine = CSV;
set global log_output = 'TABLE';
set global general_log = 1";

/// A command that a store received.
#[derive(Clone, Debug, PartialEq)]
pub struct Command {
    /// Its name, or the first word of a statement.
    pub name: String,
    /// What it touched. Of a call that is only counted it is not known, and says nothing.
    pub touched: Effect,
}

/// The commands of all Redis servers; then those of the databases, and the calls that other services only count.
pub type Commands = (Vec<Command>, Vec<Command>);

/// The logs of all stores and services, read from where the last reading ended.
pub struct Received {
    redis: Vec<Monitored>,
    sql: Vec<Logged>,
    pg: Option<PgLog>,
    counters: Counters,
}

/// One Redis server.
struct Monitored {
    counts_scripts: bool,
    redis: MultiplexedConnection,
    monitor: Pin<Box<dyn Stream<Item = String>>>,
}

impl Received {
    /// `pg_log` is the log of PostgreSQL, where it is there.
    pub async fn start(services: &Services, pg_log: Option<PathBuf>) -> Self {
        let mut redis = Vec::new();
        // The primaries of the cluster come first. Its replicas get the same commands again.
        for (service, nodes) in [("redis", 1), ("redis-nodes", 5), ("cluster", 3)] {
            for (node, url) in services.urls(service).unwrap().iter().take(nodes).enumerate() {
                // One SCRIPT LOAD of a cluster's client goes to all primaries, and is one command.
                let counts_scripts = service != "cluster" || node == 0;
                redis.push(Monitored::start(url, counts_scripts).await);
            }
        }
        let mut sql = Vec::new();
        for service in ["sql", SECOND_SQL] {
            sql.push(Logged::start(services.url(service).unwrap()).await);
        }
        Self {
            redis,
            sql,
            pg: match pg_log {
                Some(log) => Some(PgLog::start(services.url(Engine::Postgres.store()).unwrap(), log).await),
                None => None,
            },
            counters: Counters::start(services),
        }
    }

    /// The commands that arrived since the last call, in order: those of all Redis servers in capitals, the statements of
    /// the databases by their first word, those of PostgreSQL after those of MariaDB. Calls that are only counted come last, sorted,
    /// if `counted`: etcd takes long to show its counters.
    pub async fn since(&mut self, counted: bool) -> Commands {
        let mut received = Vec::new();
        for redis in &mut self.redis {
            received.extend(redis.since().await);
        }
        // One clock for all: they run on one machine.
        received.sort_by(|(one, _), (other, _)| one.total_cmp(other));
        let commands = received.into_iter().map(|(_, command)| command);
        let (mut logged, mut pings) = (Vec::new(), 0);
        for sql in &mut self.sql {
            logged.extend(sql.since().await);
            pings += sql.pings_since().await;
        }
        logged.sort_by_key(|(at, _)| *at);
        let mut rest: Vec<_> = logged.into_iter().map(|(_, command)| command).collect();
        rest.extend(self.pg.iter_mut().flat_map(PgLog::since));
        let counted = counted.then(|| self.counters.since()).into_iter().flatten();
        let counted = (0..pings).map(|_| "ping".to_owned()).chain(counted);
        rest.extend(counted.map(|name| Command {
            name,
            touched: Effect::NONE,
        }));
        (commands.collect(), rest)
    }
}

/// One MariaDB server.
struct Logged {
    sql: MySqlConnection,
    pings: u64,
}

impl Logged {
    async fn start(url: &str) -> Self {
        let mut sql = MySqlConnection::connect(url).await.unwrap();
        raw_sql(LOG_TABLE).execute(&mut sql).await.unwrap();
        let pings = pings(&mut sql).await;
        Self { sql, pings }
    }

    /// Reads the log and empties it: each statement with the time at which it came, in microseconds, and its place in the
    /// log. The statements of this connection are in it too, and left out.
    async fn since(&mut self) -> Vec<((i64, usize), Command)> {
        let select = "select convert(command_type using utf8mb4), convert(argument using utf8mb4), \
                      cast(unix_timestamp(event_time) * 1000000 as signed) from mysql.general_log \
                      where thread_id <> connection_id()";
        let rows = raw_sql(select).fetch_all(&mut self.sql).await.unwrap();
        raw_sql("truncate mysql.general_log")
            .execute(&mut self.sql)
            .await
            .unwrap();
        let word = |kind: String, text: String| match kind.as_str() {
            "Query" | "Execute" => Command::of(&text),
            _ => Command {
                name: kind.to_lowercase(),
                touched: Effect::NONE,
            },
        };
        let commands = rows.iter().enumerate();
        commands
            .map(|(place, row)| ((row.get(2), place), word(row.get(0), row.get(1))))
            .collect()
    }

    async fn pings_since(&mut self) -> u64 {
        let before = std::mem::replace(&mut self.pings, pings(&mut self.sql).await);
        self.pings - before
    }
}

impl Command {
    fn of(statement: &str) -> Self {
        Self {
            name: statement.split_whitespace().next().unwrap_or_default().to_lowercase(),
            touched: touched::by_sql(statement),
        }
    }
}

/// The log of PostgreSQL, in which a backend writes each statement before it executes it.
struct PgLog {
    file: BufReader<File>,
}

impl PgLog {
    async fn start(url: &str, log: PathBuf) -> Self {
        let mut pg = PgConnection::connect(url).await.unwrap();
        let log_all = [
            "alter system set log_statement = 'all'",
            "select pg_reload_conf()",
            // For the sessions that begin from now on; those of the shop are among them.
            "alter role all set log_min_messages = 'error'",
        ];
        for statement in log_all {
            raw_sql(statement).execute(&mut pg).await.unwrap();
        }
        let mut file = File::open(log).unwrap();
        file.seek(SeekFrom::End(0)).unwrap();
        let file = BufReader::new(file);
        Self { file }
    }

    /// Reads the statements since the last call, in order. One that comes after an error of its transaction is refused before it
    /// would be logged; it stands below the line that says so.
    fn since(&mut self) -> Vec<Command> {
        let mut lines = String::new();
        self.file.read_to_string(&mut lines).unwrap();
        let mut is_refused = false;
        let statement = |line: &str| {
            if let Some((_, error)) = line.split_once(" ERROR:  ") {
                is_refused = error.starts_with("current transaction is aborted");
            }
            if let Some((_, statement)) = line.split_once(" STATEMENT:  ") {
                return is_refused.then(|| Command::of(statement));
            }
            let (_, said) = line.split_once(" LOG:  ")?;
            let (kind, statement) = said.split_once(": ")?;
            let is_statement = kind == "statement" || kind.starts_with("execute ");
            is_statement.then(|| Command::of(statement))
        };
        lines.lines().filter_map(statement).collect()
    }
}

impl Monitored {
    async fn start(url: &str, counts_scripts: bool) -> Self {
        let client = redis::Client::open(url).unwrap();
        let monitor = client.get_async_monitor().await.unwrap();
        Self {
            counts_scripts,
            redis: client.get_multiplexed_async_connection().await.unwrap(),
            monitor: Box::pin(monitor.into_on_message()),
        }
    }

    /// The commands since the last call, each with the time at which it was carried out, in seconds.
    async fn since(&mut self) -> Vec<(f64, Command)> {
        let mark = fresh("mark");
        let _: String = redis::cmd("ECHO")
            .arg(&mark)
            .query_async(&mut self.redis)
            .await
            .unwrap();
        let mut commands: Vec<(f64, Command)> = Vec::new();
        loop {
            let line = timeout(LONG, self.monitor.next())
                .await
                .expect("MONITOR says nothing")
                .unwrap();
            if line.contains(&mark) {
                return commands;
            }
            let touched = touched::by_redis(&line);
            // A command inside a script is part of the script: its source is named `lua` instead of an address.
            if line.contains("lua] ") {
                let (_, script) = commands.last_mut().unwrap();
                script.touched = joined(script.touched, touched);
            } else {
                let at = line.split(' ').next().unwrap().parse().unwrap();
                let name = line.split('"').nth(1).unwrap().to_uppercase();
                if self.counts_scripts || name != "SCRIPT" {
                    commands.push((at, Command { name, touched }));
                }
            }
        }
    }
}

/// What one of both touches.
pub fn joined(one: Effect, other: Effect) -> Effect {
    Effect {
        reads: one.reads.and(other.reads),
        writes: one.writes.and(other.writes),
    }
}

/// Pings are in no log, only in a counter.
async fn pings(sql: &mut MySqlConnection) -> u64 {
    let counter = "select variable_value from information_schema.global_status \
                   where variable_name = 'com_admin_commands'";
    let row = raw_sql(counter).fetch_one(sql).await.unwrap();
    row.get::<String, _>(0).parse().unwrap()
}
