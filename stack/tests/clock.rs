//! Clocks that jump ahead, and clocks that step back.
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

/// Whole hours that a time is ahead, or behind if less than 0; the question takes far less than half an hour.
fn hours_ahead(seconds: u64) -> i64 {
    let ahead = seconds as i64 - now() as i64;
    (ahead + HOUR as i64 / 2).div_euclid(HOUR as i64)
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

#[test]
fn a_redis_whose_clock_steps_back_keeps_what_was_to_end_and_is_brought_forward_again() {
    let stores = world::stores();
    let redis = stores.redis().unwrap();
    let clock = redis.clock().unwrap();
    let mut commands = connection(&stores);
    cmd("SET")
        .arg(&["lock", "a", "EX", "3600"])
        .exec(&mut commands)
        .unwrap();
    clock.step_back(Duration::from_secs(2 * HOUR)).unwrap();
    assert_eq!(hours_ahead(time_of_redis(&stores)), -2);
    assert!(clock.told().unwrap() > 0);
    let left: u64 = cmd("TTL").arg("lock").query(&mut commands).unwrap();
    assert!(left > 2 * HOUR, "{left} s are left");
    // It is behind also in another process, until it is set right: then it tells the end of the lock by the real time.
    redis.restart().unwrap();
    redis.wait_ready(world::LIMIT).unwrap();
    assert_eq!(hours_ahead(time_of_redis(&stores)), -2);
    clock.catch_up().unwrap();
    assert_eq!(hours_ahead(time_of_redis(&stores)), 0);
    // A clock that is ahead is not set right by that.
    run_ahead(redis, 3);
    clock.step_back(Duration::from_secs(HOUR)).unwrap();
    clock.catch_up().unwrap();
    assert_eq!(hours_ahead(time_of_redis(&stores)), 2);
}

#[tokio::test]
async fn a_mariadb_whose_clock_steps_back_while_one_waits_for_a_lock_still_answers() {
    let stores = world::stores();
    let clock = stores.mariadb().unwrap().clock().unwrap();
    let mut one = MySqlConnection::connect(stores.sql_url()).await.unwrap();
    let mut other = MySqlConnection::connect(stores.sql_url()).await.unwrap();
    let lock = |seconds: f64| format!("select get_lock('a', {seconds})");
    let get = async |connection: &mut MySqlConnection, seconds| -> Option<i64> {
        sqlx::query_scalar(sqlx::AssertSqlSafe(lock(seconds)))
            .fetch_one(connection)
            .await
            .unwrap()
    };
    assert_eq!(get(&mut one, 0.01).await, Some(1));
    clock.step_back(Duration::from_secs(2 * HOUR)).unwrap();
    let time: i64 = sqlx::query_scalar("select unix_timestamp()")
        .fetch_one(&mut one)
        .await
        .unwrap();
    assert_eq!(hours_ahead(time as u64), -2);
    // A wait that begins after the step ends after its own time.
    let refused = timeout(world::LIMIT, get(&mut other, 0.01));
    assert_eq!(refused.await.expect("it would come back in two hours"), Some(0));
}
