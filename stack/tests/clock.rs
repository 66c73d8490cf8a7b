//! Clocks that run ahead.
#![allow(clippy::unwrap_used, reason = "a test that fails may panic")]

use std::time::{Duration, SystemTime};

use redis::{Connection, cmd};
use sqlx::{Connection as _, MySqlConnection};
use stack::{Service, Stores};
use tokio::time::timeout;

mod world;

const HOUR: u64 = 3_600;

fn now() -> u64 {
    let since = SystemTime::now().duration_since(SystemTime::UNIX_EPOCH);
    since.unwrap().as_secs()
}

/// Whole hours that a time is ahead; a little more than they are is what the question took.
fn hours_ahead(seconds: u64) -> u64 {
    seconds.saturating_sub(now()).div_ceil(HOUR)
}

fn connection(stores: &Stores) -> Connection {
    let client = redis::Client::open(stores.redis_url()).unwrap();
    client.get_connection().unwrap()
}

fn time_of_redis(stores: &Stores) -> u64 {
    let (seconds, _): (u64, u64) = cmd("TIME").query(&mut connection(stores)).unwrap();
    seconds
}

fn run_ahead(service: &Service, hours: u64) {
    service
        .clock()
        .unwrap()
        .run_ahead(Duration::from_secs(hours * HOUR))
        .unwrap();
}

#[test]
fn a_redis_whose_clock_jumps_ends_what_was_to_last_longer() {
    let stores = world::stores();
    let redis = stores.redis().unwrap();
    let mut commands = connection(&stores);
    cmd("SET")
        .arg(&["lock", "a", "EX", "3600"])
        .exec(&mut commands)
        .unwrap();
    assert_eq!(hours_ahead(time_of_redis(&stores)), 0);
    run_ahead(redis, 2);
    assert_eq!(hours_ahead(time_of_redis(&stores)), 2);
    let left: Option<String> = cmd("GET").arg("lock").query(&mut commands).unwrap();
    assert_eq!(left, None);
    assert!(redis.clock().unwrap().told().unwrap() > 0);
    // It goes on so, also in another process.
    run_ahead(redis, 1);
    redis.restart().unwrap();
    redis.wait_ready(world::LIMIT).unwrap();
    assert_eq!(hours_ahead(time_of_redis(&stores)), 3);
    redis.clock().unwrap().set_right().unwrap();
    assert_eq!(hours_ahead(time_of_redis(&stores)), 0);
}

#[tokio::test]
async fn a_mariadb_whose_clock_is_ahead_waits_no_longer_for_that() {
    let stores = world::stores();
    run_ahead(stores.mariadb().unwrap(), 2);
    let mut one = MySqlConnection::connect(stores.sql_url()).await.unwrap();
    let mut other = MySqlConnection::connect(stores.sql_url()).await.unwrap();
    let time: i64 = sqlx::query_scalar("select unix_timestamp()")
        .fetch_one(&mut one)
        .await
        .unwrap();
    assert_eq!(hours_ahead(time as u64), 2);
    let get_lock = "select get_lock('a', 0.01)";
    let got: Option<i64> = sqlx::query_scalar(get_lock).fetch_one(&mut one).await.unwrap();
    assert_eq!(got, Some(1));
    let waits = async {
        let got: Option<i64> = sqlx::query_scalar(get_lock).fetch_one(&mut other).await.unwrap();
        assert_eq!(got, Some(0));
        sqlx::query("do sleep(0.01)").execute(&mut other).await.unwrap();
    };
    timeout(world::LIMIT, waits)
        .await
        .expect("they would come back in two hours");
    assert_eq!(hours_ahead(time_of_redis(&stores)), 0);
}
