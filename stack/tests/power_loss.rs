//! Loss of power, played on Redis, MariaDB and PostgreSQL: what they sync is there afterwards, what they only write is not.
#![allow(clippy::unwrap_used, reason = "a test that fails may panic")]

use redis::{Connection, cmd};
use sqlx::{Connection as _, MySqlConnection, PgConnection};
use stack::{Loss, Service, ServiceKind, Stores};

mod world;

fn again_with_journal(service: &Service) {
    service.restart_with_journal().unwrap();
    service.wait_ready(world::LIMIT).unwrap();
}

fn lose_power(service: &Service) -> Loss {
    let loss = service.lose_power().unwrap();
    service.restart().unwrap();
    service.wait_ready(world::LIMIT).unwrap();
    loss
}

fn redis(stores: &Stores) -> Connection {
    let client = redis::Client::open(stores.redis_url()).unwrap();
    client.get_connection().unwrap()
}

/// Sets a key under this setting of `appendfsync`; returns whether a loss of power spares it, and what was lost.
fn redis_keeps(appendfsync: &str, power: impl FnOnce(&Service) -> Loss) -> (bool, Loss) {
    let stores = world::stores();
    let service = stores.redis().unwrap();
    let set = |key: &str| cmd("SET").arg(key).arg("1").exec(&mut redis(&stores)).unwrap();
    set("before");
    stores.keep_redis_on_disk(true).unwrap();
    again_with_journal(service);
    let setting = ["SET", "appendfsync", appendfsync];
    cmd("CONFIG").arg(&setting).exec(&mut redis(&stores)).unwrap();
    set("sold");
    let loss = power(service);
    let count = |key| cmd("EXISTS").arg(key).query::<u8>(&mut redis(&stores)).unwrap();
    assert_eq!(count("before"), 1);
    (count("sold") == 1, loss)
}

#[test]
fn a_redis_that_syncs_always_keeps_everything_when_the_power_is_lost() {
    let (keeps, loss) = redis_keeps("always", lose_power);
    assert!(keeps);
    assert_eq!(loss.bytes, 0);
}

#[test]
fn a_redis_that_never_syncs_keeps_everything_when_it_is_killed_and_nothing_when_the_power_is_lost() {
    let (keeps, loss) = redis_keeps("no", lose_power);
    assert!(!keeps);
    assert!(loss.bytes > 0 && loss.files == 1, "{loss:?}");
    let killed = |service: &Service| {
        service.restart().unwrap();
        service.wait_ready(world::LIMIT).unwrap();
        Loss::default()
    };
    assert!(redis_keeps("no", killed).0);
}

async fn execute(stores: &Stores, statement: &'static str) {
    let mut connection = MySqlConnection::connect(stores.sql_url()).await.unwrap();
    sqlx::raw_sql(statement).execute(&mut connection).await.unwrap();
}

/// Commits a row under this setting; returns whether a loss of power spares it, and what was lost.
async fn mariadb_keeps(setting: &'static str) -> (bool, Loss) {
    let stores = world::stores();
    let service = stores.mariadb().unwrap();
    execute(
        &stores,
        "create table sold (id int primary key) engine=innodb; insert into sold values (1)",
    )
    .await;
    again_with_journal(service);
    execute(&stores, setting).await;
    let length = service.unsynced().unwrap().length().unwrap();
    execute(&stores, "insert into sold values (2)").await;
    let loss = lose_power(service);
    let mut connection = MySqlConnection::connect(stores.sql_url()).await.unwrap();
    let ids: Vec<i32> = sqlx::query_scalar("select id from sold")
        .fetch_all(&mut connection)
        .await
        .unwrap();
    assert_eq!(ids.first(), Some(&1));
    // What it synced decides: temporary files are never synced.
    assert_eq!(loss.is_all_since(length), ids.len() == 1, "{loss:?}");
    (ids.len() == 2, loss)
}

#[tokio::test]
async fn a_mariadb_that_syncs_each_commit_keeps_it_when_the_power_is_lost() {
    assert!(mariadb_keeps("set global innodb_flush_log_at_trx_commit = 1").await.0);
}

#[tokio::test]
async fn a_mariadb_that_syncs_its_commits_later_loses_the_last_one_with_the_power() {
    // Its longest pause between two syncs, so that none comes in time.
    let setting = "set global innodb_flush_log_at_trx_commit = 2; set global innodb_flush_log_at_timeout = 2700";
    let (keeps, loss) = mariadb_keeps(setting).await;
    assert!(!keeps);
    assert!(loss.bytes > 0, "{loss:?}");
}

/// Commits a row under this setting of `synchronous_commit`; returns whether a loss of power spares it, and what was lost.
async fn postgresql_keeps(synchronous_commit: &'static str) -> (bool, Loss) {
    let mut stores = world::no_stores();
    let url = stores.start_service("pg", true).unwrap()[0].clone();
    let [service] = stores.processes(ServiceKind::Pg) else {
        panic!("{url} is not the only one")
    };
    let connect = || async { PgConnection::connect(&url).await.unwrap() };
    let mut before = connect().await;
    // Its longest pause between two syncs, so that none comes in time.
    for statement in [
        "create table sold (id bigint primary key)",
        "insert into sold values (1)",
        "alter system set wal_writer_delay = '10s'",
    ] {
        sqlx::raw_sql(statement).execute(&mut before).await.unwrap();
    }
    again_with_journal(service);
    let mut buyer = connect().await;
    let set = "select set_config('synchronous_commit', $1, false)";
    let set = sqlx::query_scalar::<_, String>(set).bind(synchronous_commit);
    set.fetch_one(&mut buyer).await.unwrap();
    sqlx::raw_sql("insert into sold values (2)")
        .execute(&mut buyer)
        .await
        .unwrap();
    let loss = lose_power(service);
    let ids: Vec<i64> = sqlx::query_scalar("select id from sold")
        .fetch_all(&mut connect().await)
        .await
        .unwrap();
    assert_eq!(ids.first(), Some(&1));
    (ids.len() == 2, loss)
}

#[tokio::test]
async fn a_postgresql_that_syncs_each_commit_keeps_it_when_the_power_is_lost() {
    assert!(postgresql_keeps("on").await.0);
}

#[tokio::test]
async fn a_postgresql_that_syncs_its_commits_later_loses_the_last_one_with_the_power() {
    let (keeps, loss) = postgresql_keeps("off").await;
    assert!(!keeps);
    assert!(loss.bytes > 0, "{loss:?}");
}
