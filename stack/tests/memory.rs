//! Redis at the limit of its memory.
#![allow(clippy::unwrap_used, reason = "a test that fails may panic")]

use std::time::Instant;

use redis::{Client, Connection, FromRedisValue, cmd};
use stack::{AtLimit, Stores};

mod world;

fn connection(stores: &Stores) -> Connection {
    Client::open(stores.redis_url()).unwrap().get_connection().unwrap()
}

fn ask<T: FromRedisValue>(redis: &mut Connection, command: &[&str]) -> T {
    cmd(command[0]).arg(&command[1..]).query(redis).unwrap()
}

/// A sale as it lies in Redis, and one of another item.
fn open_sales(redis: &mut Connection) {
    for command in [
        &["SET", "stock:{sku}", "5"][..],
        &["HSET", "orders:{sku}", "id", "{}"],
        &["SET", "fence:{sku}", "7", "EX", "86400"],
        &["SET", "lock:{sku}", "mine", "PX", "30000"],
        &["SET", "stock:{other}", "5"],
    ] {
        ask::<redis::Value>(redis, command);
    }
}

/// The settings of the limit, and the number of all keys.
fn settings(redis: &mut Connection) -> (Vec<String>, u64) {
    let limit = ask::<Vec<String>>(redis, &["CONFIG", "GET", "maxmemory"]);
    let policy = ask::<Vec<String>>(redis, &["CONFIG", "GET", "maxmemory-policy"]);
    ([limit, policy].concat(), ask(redis, &["DBSIZE"]))
}

#[test]
fn the_lock_is_the_first_key_to_go_where_the_key_that_expires_first_goes_first() {
    let stores = world::stores();
    let mut redis = connection(&stores);
    open_sales(&mut redis);
    let before = settings(&mut redis);
    let mut limit = stores
        .limit_memory(stores.redis().unwrap(), AtLimit::EvictFirstToExpire)
        .unwrap();
    let leases = limit.leases("sku").unwrap();
    let keys: Vec<_> = leases.iter().map(|lease| lease.key.clone()).collect();
    assert_eq!(keys, ["lock:{sku}"], "a key that lasts a day is no lease");
    assert!(leases[0].ends > Instant::now());
    assert!(limit.evict(&keys).unwrap());
    assert!(limit.evicted().unwrap() > 0);
    let kept = ["EXISTS", "stock:{sku}", "orders:{sku}", "fence:{sku}", "stock:{other}"];
    assert_eq!(ask::<u64>(&mut redis, &kept), 4);
    drop(limit);
    let (settings, keys) = settings(&mut redis);
    assert_eq!(
        (settings, keys),
        (before.0, before.1 - 1),
        "all but the lock is as before"
    );
}

#[test]
fn every_key_of_a_sale_goes_where_the_key_that_lay_unused_for_longest_goes_first() {
    let stores = world::stores();
    let mut redis = connection(&stores);
    open_sales(&mut redis);
    let mut limit = stores
        .limit_memory(stores.redis().unwrap(), AtLimit::EvictLeastRecentlyUsed)
        .unwrap();
    let keys = limit.keys("sku").unwrap();
    assert_eq!(keys.len(), 4);
    assert!(limit.evict(&keys).unwrap());
    assert_eq!(limit.keys("sku").unwrap(), Vec::<String>::new());
}

#[test]
fn a_full_redis_refuses_what_needs_memory_and_nothing_else_until_there_is_room_again() {
    let stores = world::stores();
    let mut redis = connection(&stores);
    open_sales(&mut redis);
    let before = settings(&mut redis);
    let mut limit = stores.limit_memory(stores.redis().unwrap(), AtLimit::Refuse).unwrap();
    let mut set = cmd("SET");
    set.arg("more").arg(1);
    let refused = set.exec(&mut redis).unwrap_err();
    assert!(refused.to_string().contains("OOM"), "{refused}");
    assert_eq!(ask::<u64>(&mut redis, &["DEL", "lock:{sku}"]), 1);
    assert_eq!((limit.refused().unwrap(), limit.evicted().unwrap()), (1, 0));
    drop(limit);
    set.exec(&mut redis).unwrap();
    assert_eq!(settings(&mut redis), before);
}

#[test]
fn a_redis_that_restarts_has_no_limit_any_more() {
    let stores = world::stores();
    let service = stores.redis().unwrap();
    let limit = stores.limit_memory(service, AtLimit::Refuse).unwrap();
    service.restart().unwrap();
    service.wait_ready(world::LIMIT).unwrap();
    drop(limit);
    let (settings, _) = settings(&mut connection(&stores));
    assert_eq!(settings, ["maxmemory", "0", "maxmemory-policy", "noeviction"]);
}
