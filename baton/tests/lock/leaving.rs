//! Who goes away leaves nothing behind.

use std::time::Duration;

use baton::{Baton, Settings};
use futures_util::FutureExt;
use redis::AsyncCommands;

use crate::world::{LOCK, World, lock, patient, waiting};

#[tokio::test]
async fn who_stops_waiting_leaves_the_queue() {
    let mut world = World::start().await;
    let process = world.process(patient()).await;
    let held = lock(&process).await;
    let waiter = waiting(&process);
    world.queued(1).await;
    waiter.abort();
    world.queued(0).await;
    held.release().await.unwrap();
    world.free().await;
}

#[tokio::test]
async fn who_has_no_time_to_wait_has_a_lock_only_if_it_is_free() {
    let mut world = World::start().await;
    for batch in [1, 8] {
        let settings = || Settings { batch, ..patient() };
        let (process, other) = (world.process(settings()).await, world.process(settings()).await);
        let held = process.lock_within(LOCK, Duration::ZERO, None).await.unwrap().unwrap();
        for process in [&process, &other] {
            assert!(process.lock_within(LOCK, Duration::ZERO, None).await.unwrap().is_none());
        }
        world.queued(0).await;
        held.release().await.unwrap();
        world.free().await;
    }
}

#[tokio::test]
async fn a_lock_that_came_to_who_no_longer_waits_goes_to_the_next_one() {
    let mut world = World::start().await;
    let (process, other) = (world.process(patient()).await, world.process(patient()).await);
    let held = lock(&process).await;
    let mut gone = Box::pin(process.lock(LOCK));
    while world
        .redis
        .llen::<_, usize>(&baton::Baton::keys(LOCK)[1])
        .await
        .unwrap()
        == 0
    {
        // Polled just until it stands in the queue.
        assert!(gone.as_mut().now_or_never().is_none());
        tokio::task::yield_now().await;
    }
    let next = waiting(&other);
    world.queued(2).await;
    held.release().await.unwrap();
    drop(gone);
    assert!(!next.await.unwrap().is_lost());
}

#[tokio::test]
async fn a_lock_that_is_dropped_is_given_back() {
    let mut world = World::start().await;
    for batch in [1, 8] {
        let process = world.process(Settings { batch, ..patient() }).await;
        drop(lock(&process).await);
        world.free().await;
        let held = lock(&process).await;
        let waiter = waiting(&process);
        drop(held);
        drop(waiter.await.unwrap());
        world.free().await;
    }
}

#[tokio::test]
async fn a_lock_that_was_left_to_a_waiter_here_who_went_is_given_back() {
    let mut world = World::start().await;
    let process = world.process(Settings { batch: 8, ..patient() }).await;
    let held = lock(&process).await;
    let mut gone = Box::pin(process.lock(LOCK));
    assert!(gone.as_mut().now_or_never().is_none());
    held.release().await.unwrap();
    drop(gone);
    world.free().await;
}

#[tokio::test]
async fn neighbours_who_went_before_their_turn_or_as_it_came_are_passed_over() {
    let mut world = World::start().await;
    let (process, other) = (world.process(patient()).await, world.process(patient()).await);
    let held = lock(&other).await;
    let mut neighbours = Vec::new();
    for came in 0..5 {
        neighbours.push(waiting(&process));
        world.queued(came + 1).await;
    }
    let next = waiting(&other);
    world.queued(6).await;
    held.release().await.unwrap();
    let mut neighbours = neighbours.into_iter();
    let held = neighbours.next().unwrap().await.unwrap();
    world.queued(1).await;
    let (second, third) = (neighbours.next().unwrap(), neighbours.next().unwrap());
    second.abort();
    assert!(second.await.is_err());
    drop(held);
    drop(third.await.unwrap());
    for gone in neighbours {
        gone.abort();
    }
    assert!(!next.await.unwrap().is_lost());
}

#[tokio::test]
async fn what_a_lock_leaves_in_redis_is_not_kept_for_ever() {
    let mut world = World::start().await;
    let process = world.process(patient()).await;
    let held = lock(&process).await;
    let waiter = waiting(&process);
    world.queued(1).await;
    for key in Baton::keys(LOCK) {
        assert!(world.redis.pttl::<_, i64>(&key).await.unwrap() > 0, "{key}");
    }
    held.release().await.unwrap();
    waiter.await.unwrap().release().await.unwrap();
}
