//! Who is next.

use baton::{Released, Settings};
use redis::AsyncCommands;

use crate::world::{LOCK, World, lock, patient, waiting};

#[tokio::test]
async fn waiters_of_all_processes_are_served_in_the_order_in_which_they_came() {
    let mut world = World::start().await;
    let processes = [world.process(patient()).await, world.process(patient()).await];
    let mut held = lock(&processes[0]).await;
    let mut waiters = Vec::new();
    for came in 0..6 {
        waiters.push(waiting(&processes[came % 2]));
        world.queued(came + 1).await;
    }
    for waiter in waiters {
        let before = held.fence();
        assert_eq!(held.release().await.unwrap(), Released::InTime);
        held = waiter.await.unwrap();
        assert!(held.fence() > before, "{} after {before}", held.fence());
    }
    assert_eq!(held.release().await.unwrap(), Released::InTime);
    world.free().await;
}

#[tokio::test]
async fn a_waiter_whose_process_listens_no_more_is_skipped() {
    let mut world = World::start().await;
    let process = world.process(patient()).await;
    let held = lock(&process).await;
    let [_, queue, _] = baton::Baton::keys(LOCK);
    let _: usize = world.redis.rpush(&queue, "nobody:0:1").await.unwrap();
    let waiter = waiting(&process);
    world.queued(2).await;
    held.release().await.unwrap();
    assert!(!waiter.await.unwrap().is_lost());
}

#[tokio::test]
async fn a_batch_is_passed_on_inside_the_process_and_then_the_others_have_their_turn() {
    let mut world = World::start().await;
    let batch = Settings { batch: 3, ..patient() };
    let (here, there) = (world.process(batch.clone()).await, world.process(batch).await);
    let first = lock(&here).await;
    let mut own = Vec::new();
    for _ in 0..3 {
        own.push(waiting(&here));
        // In the order in which they came: each waits before the next one comes.
        tokio::task::yield_now().await;
    }
    let other = waiting(&there);
    world.queued(1).await;
    let begin = first.fence();
    let mut held = first;
    for (place, waiter) in own.drain(..2).enumerate() {
        assert_eq!(held.release().await.unwrap(), Released::InTime);
        held = waiter.await.unwrap();
        assert_eq!(held.fence(), begin + place as u64 + 1, "of those that were reserved");
    }
    world.queued(1).await;
    held.release().await.unwrap();
    let other = other.await.unwrap();
    assert!(other.fence() > begin + 2);
    other.release().await.unwrap();
    assert!(own.remove(0).await.unwrap().fence() > begin + 3);
}

#[tokio::test]
async fn neighbours_in_the_queue_have_it_in_a_row_and_redis_is_asked_once() {
    let mut world = World::start().await;
    let (here, there) = (world.process(patient()).await, world.process(patient()).await);
    // The scripts are loaded by the first.
    lock(&here).await.release().await.unwrap();
    let held = lock(&there).await;
    let mut waiters = Vec::new();
    for (came, process) in [&here, &here, &here, &there, &here].into_iter().enumerate() {
        waiters.push(waiting(process));
        world.queued(came + 1).await;
    }
    let before = calls(&world).await;
    let mut last = held.fence();
    held.release().await.unwrap();
    for waiter in waiters {
        let held = waiter.await.unwrap();
        assert!(held.fence() > last, "{} after {last}", held.fence());
        last = held.fence();
        assert_eq!(held.release().await.unwrap(), Released::InTime);
    }
    assert_eq!(
        calls(&world).await - before,
        4,
        "of the first one, of a row of three, and of two alone"
    );
    world.free().await;
}

#[tokio::test]
async fn an_uncontended_lock_costs_two_commands() {
    let world = World::start().await;
    let process = world.process(patient()).await;
    // The scripts are loaded by the first.
    lock(&process).await.release().await.unwrap();
    let before = calls(&world).await;
    for _ in 0..10 {
        lock(&process).await.release().await.unwrap();
    }
    assert_eq!(calls(&world).await - before, 20);
}

/// How many scripts Redis was asked to run.
async fn calls(world: &World) -> u64 {
    let mut redis = world.redis.clone();
    let stats: String = redis::cmd("INFO")
        .arg("commandstats")
        .query_async(&mut redis)
        .await
        .unwrap();
    let line = stats
        .lines()
        .find_map(|line| line.strip_prefix("cmdstat_evalsha:calls="));
    line.unwrap().split(',').next().unwrap().parse().unwrap()
}
