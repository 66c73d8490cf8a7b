//! A waiter that stops waiting, and a holder that drops the lock, leave nothing behind.

use std::time::Duration;

use baton::{Baton, Settings};
use futures_util::FutureExt;
use redis::AsyncCommands;

use crate::world::{LOCK, World, lock, patient, waiting};

#[tokio::test]
async fn a_waiter_that_stops_waiting_leaves_the_queue() {
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
async fn a_caller_without_time_gets_the_lock_only_if_it_is_free() {
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
async fn a_lock_granted_to_a_waiter_that_is_gone_goes_to_the_next_one() {
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
        // Polled only until it is in the queue.
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
async fn a_dropped_lock_is_released() {
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
async fn a_lock_left_to_a_local_waiter_that_is_gone_is_released() {
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
async fn neighbours_that_stop_waiting_before_or_at_their_handoff_are_passed_over() {
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
async fn every_key_of_a_lock_expires() {
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
