//! Loss of power, played on Redis and MariaDB: what they sync is there afterwards, what they only write is not.
#![allow(clippy::unwrap_used, reason = "a test that fails may panic")]

use redis::{Connection, cmd};
use sqlx::{Connection as _, MySqlConnection};
use stack::{Loss, Service, Stores};

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
