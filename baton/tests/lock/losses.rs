//! Losses of Redis and of the network.

use std::time::Duration;

use baton::{Baton, Released, Settings};
use redis::AsyncCommands;
use tokio::time::timeout;

use crate::world::{LOCK, LONG, World, lock, patient, waiting};

#[tokio::test]
async fn a_holder_learns_that_its_lock_is_gone() {
    let mut world = World::start().await;
    let grace = Duration::from_millis(60);
    let process = world.process(Settings { grace, ..patient() }).await;
    let held = lock(&process).await;
    let _: usize = world.redis.del(&Baton::keys(LOCK)[0]).await.unwrap();
    assert!(timeout(LONG, held.lost()).await.is_ok());
    assert!(held.is_lost());
    assert_eq!(held.release().await.unwrap(), Released::TooLate);
}

/// The first renewal comes before the grace is over, and finds another owner.
#[tokio::test]
async fn a_holder_whose_lock_is_anothers_learns_that_it_is_lost_and_does_not_renew_it() {
    let mut world = World::start().await;
    let grace = Duration::from_millis(600);
    let process = world.process(Settings { grace, ..patient() }).await;
    let held = lock(&process).await;
    let owner = &Baton::keys(LOCK)[0];
    let lease_ms = 10 * LONG.as_millis() as u64;
    let _: () = world.redis.pset_ex(owner, "another:0:1", lease_ms).await.unwrap();
    assert!(
        timeout(LONG / 2, held.lost()).await.is_ok(),
        "it renews the lock of another"
    );
    let left: (String, u64) = (
        world.redis.get(owner).await.unwrap(),
        world.redis.pttl(owner).await.unwrap(),
    );
    assert_eq!(left.0, "another:0:1");
    assert!(
        left.1 > LONG.as_millis() as u64,
        "the lease of another is now as long as ours"
    );
    assert_eq!(held.release().await.unwrap(), Released::TooLate);
    assert_eq!(world.redis.get::<_, String>(owner).await.unwrap(), "another:0:1");
}

#[tokio::test]
async fn a_holder_that_cannot_renew_learns_it_from_its_own_clock() {
    let world = World::start().await;
    let settings = Settings {
        lease: Duration::from_millis(60),
        ..patient()
    };
    let process = world.process(settings).await;
    let held = lock(&process).await;
    world.stores.redis().unwrap().pause().unwrap();
    assert!(timeout(LONG, held.lost()).await.is_ok());
    world.stores.redis().unwrap().resume().unwrap();
}

#[tokio::test]
async fn a_held_lock_is_renewed_beyond_its_lease() {
    let mut world = World::start().await;
    let settings = Settings {
        lease: Duration::from_secs(3),
        ..patient()
    };
    let process = world.process(settings).await;
    let held = lock(&process).await;
    for _ in 0..2 {
        world.renewed().await;
    }
    assert!(!held.is_lost());
}

#[tokio::test]
async fn the_lock_of_a_dead_holder_goes_to_the_first_in_the_queue_when_its_lease_ends() {
    let mut world = World::start().await;
    let process = world.process(patient()).await;
    let [owner, ..] = Baton::keys(LOCK);
    let _: () = world.redis.pset_ex(&owner, "a dead one:0:1", 200).await.unwrap();
    let waiter = waiting(&process);
    assert!(!waiter.await.unwrap().is_lost());
}

#[tokio::test]
async fn a_waiter_that_missed_its_handoff_joins_the_queue_again() {
    let mut world = World::start().await;
    let (process, other) = (world.process(patient()).await, world.process(patient()).await);
    let held = lock(&process).await;
    let waiter = waiting(&other);
    world.queued(1).await;
    world.cut("pubsub").await;
    // The handoff may come before or after the process subscribes again.
    held.release().await.unwrap();
    assert!(!waiter.await.unwrap().is_lost());
}

#[tokio::test]
async fn neighbours_whose_lock_is_gone_take_it_again() {
    let mut world = World::start().await;
    let grace = Duration::from_millis(60);
    let settings = || Settings { grace, ..patient() };
    let (process, other) = (world.process(settings()).await, world.process(settings()).await);
    let held = lock(&other).await;
    let waiters = [waiting(&process), waiting(&process), waiting(&process)];
    world.queued(3).await;
    held.release().await.unwrap();
    let mut waiters = waiters.into_iter();
    let first = waiters.next().unwrap().await.unwrap();
    let _: usize = world.redis.del(&Baton::keys(LOCK)[0]).await.unwrap();
    for waiter in waiters {
        let held = waiter.await.unwrap();
        assert!(held.fence() > first.fence());
        assert!(first.is_lost());
        drop(held);
    }
}

#[tokio::test]
async fn neighbours_whose_handoff_was_not_received_ask_for_it() {
    let mut world = World::start().await;
    let (process, other) = (world.process(patient()).await, world.process(patient()).await);
    let held = lock(&other).await;
    let waiters = [waiting(&process), waiting(&process)];
    world.queued(2).await;
    let [owner, queue, _] = Baton::keys(LOCK);
    let tokens: Vec<String> = world.redis.lpop(&queue, std::num::NonZero::new(2)).await.unwrap();
    let _: () = world.redis.pset_ex(&owner, tokens.join(","), 30_000).await.unwrap();
    world.cut("pubsub").await;
    for waiter in waiters {
        assert_eq!(waiter.await.unwrap().release().await.unwrap(), Released::InTime);
    }
    world.free().await;
    drop(held);
}

#[tokio::test]
async fn a_holder_and_a_waiter_survive_cut_connections() {
    let mut world = World::start().await;
    let (process, other) = (world.process(patient()).await, world.process(patient()).await);
    let held = lock(&process).await;
    let waiter = waiting(&other);
    world.queued(1).await;
    for kind in ["normal", "pubsub"] {
        world.cut(kind).await;
    }
    assert_eq!(held.release().await.unwrap(), Released::InTime);
    waiter.await.unwrap().release().await.unwrap();
    world.free().await;
}

#[tokio::test]
async fn a_queue_that_redis_lost_forms_again() {
    let mut world = World::start().await;
    let settings = Settings {
        grace: Duration::from_millis(500),
        ..patient()
    };
    let process = world.process(settings).await;
    let held = lock(&process).await;
    let waiters = [waiting(&process), waiting(&process)];
    world.queued(2).await;
    let before = held.fence();
    let _: () = redis::cmd("FLUSHALL").query_async(&mut world.redis).await.unwrap();
    for waiter in waiters {
        let held = waiter.await.unwrap();
        assert!(held.fence() > before, "the fences rise although Redis lost them");
        held.release().await.unwrap();
    }
    drop(held);
}

#[tokio::test]
async fn a_restarted_redis_is_used_again() {
    let world = World::start().await;
    let process = world.process(patient()).await;
    lock(&process).await.release().await.unwrap();
    let redis = world.stores.redis().unwrap();
    redis.restart().unwrap();
    let held = lock(&process).await;
    assert_eq!(held.release().await.unwrap(), Released::InTime);
}
