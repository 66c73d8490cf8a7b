//! The order of the holders, and the cost of a handoff.

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
async fn a_waiter_whose_process_no_longer_listens_is_skipped() {
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
async fn a_batch_stays_inside_the_process_and_then_another_process_gets_the_lock() {
    let mut world = World::start().await;
    let batch = Settings { batch: 3, ..patient() };
    let (here, there) = (world.process(batch.clone()).await, world.process(batch).await);
    let first = lock(&here).await;
    let mut own = Vec::new();
    for _ in 0..3 {
        own.push(waiting(&here));
        // Each one waits before the next one comes, so that their order is known.
        tokio::task::yield_now().await;
    }
    let other = waiting(&there);
    world.queued(1).await;
    let begin = first.fence();
    let mut held = first;
    for (index, waiter) in own.drain(..2).enumerate() {
        assert_eq!(held.release().await.unwrap(), Released::InTime);
        held = waiter.await.unwrap();
        assert_eq!(held.fence(), begin + index as u64 + 1, "of the reserved fences");
    }
    world.queued(1).await;
    held.release().await.unwrap();
    let other = other.await.unwrap();
    assert!(other.fence() > begin + 2);
    other.release().await.unwrap();
    assert!(own.remove(0).await.unwrap().fence() > begin + 3);
}

#[tokio::test]
async fn neighbours_in_the_queue_get_the_lock_in_a_row_for_one_script() {
    let mut world = World::start().await;
    let (here, there) = (world.process(patient()).await, world.process(patient()).await);
    // The first use loads the scripts.
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
        "one of the first holder, one of the row of three, and two of the others"
    );
    world.free().await;
}

#[tokio::test]
async fn an_uncontended_lock_costs_two_commands() {
    let world = World::start().await;
    let process = world.process(patient()).await;
    // The first use loads the scripts.
    lock(&process).await.release().await.unwrap();
    let before = calls(&world).await;
    for _ in 0..10 {
        lock(&process).await.release().await.unwrap();
    }
    assert_eq!(calls(&world).await - before, 20);
}

/// The number of scripts that Redis was asked to run.
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
