//! One purchase per interval: the time of the last one is stored beside the lock, before anything is sold.

use std::time::{Duration, SystemTime};

use app::guards::Released;
use redis::AsyncCommands;

use crate::harness::{Instance, fresh, name};
use crate::locks::{LASTING, guard, probe};

/// A time of Redis' clock, far from now, in milliseconds.
fn far(ahead: bool) -> i64 {
    let now = SystemTime::now().duration_since(SystemTime::UNIX_EPOCH).unwrap();
    let (now_ms, far_ms) = (now.as_millis() as i64, Duration::from_secs(100_000).as_millis() as i64);
    if ahead { now_ms + far_ms } else { now_ms - far_ms }
}

#[tokio::test]
async fn interval_lets_a_purchase_in_that_comes_an_interval_after_the_last_one_and_stores_its_time() {
    let instance = Instance::lab().await;
    let guard = guard(&instance, "interval", LASTING).await;
    let item = name(&fresh("sku"));
    let (key, mut redis) = (format!("lock:{{{item}}}"), instance.redis.clone());
    let _: () = redis.set(format!("{key}t"), far(false)).await.unwrap();
    let held = guard.take(&item, &probe()).await;
    let value: String = redis.get(&key).await.unwrap();
    let previous: String = redis.get(format!("{key}t")).await.unwrap();
    assert_eq!(value.split_once(',').unwrap().1, previous, "the end of its lease");
    guard.assert_held(&item, "the first purchase is inside").await;
    held.release(&probe(), Released::InTime).await;
    guard.assert_free(&item, "the interval is over soon").await;
}

#[tokio::test]
async fn interval_releases_the_lock_of_a_purchase_that_comes_too_early_also_after_a_clock_that_stepped_back() {
    let instance = Instance::lab().await;
    let guard = guard(&instance, "interval", LASTING).await;
    let item = name(&fresh("sku"));
    let (key, mut redis) = (format!("lock:{{{item}}}"), instance.redis.clone());
    let ahead = far(true);
    let _: () = redis.set(format!("{key}t"), ahead).await.unwrap();
    guard.assert_held(&item, "the last time is to come").await;
    let previous: i64 = redis.get(format!("{key}t")).await.unwrap();
    assert_eq!(previous, ahead, "a refused purchase stores no time");
    let exists: bool = redis.exists(&key).await.unwrap();
    assert!(!exists, "a refused purchase keeps no lock");
    guard.forget(&item).await;
    guard.assert_free(&item, "the item is forgotten").await;
}
