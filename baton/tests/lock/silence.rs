//! A connection that falls silent, and that nobody closes.

use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use baton::{Baton, Operation, Settings};
use redis::AsyncCommands;
use stack::{Folder, Relay};
use tokio::time::timeout;

use crate::hook::Recorder;
use crate::world::{LOCK, LONG, World, lock, patient, waiting};

/// A process with its own relay to Redis.
struct Relayed {
    process: Arc<Baton>,
    relay: Relay,
    _folder: Folder,
}

impl Relayed {
    async fn new(world: &World, settings: Settings) -> Self {
        let folder = Folder::new().unwrap();
        let redis = world.stores.redis_url().strip_prefix("redis+unix://").unwrap();
        let relay = Relay::start(folder.path(), PathBuf::from(redis)).unwrap();
        let url = format!("redis+unix://{}", relay.at().socket().unwrap().display());
        let client = redis::Client::open(url).unwrap();
        Self {
            process: Arc::new(Baton::connect(client, settings).await.unwrap()),
            relay,
            _folder: folder,
        }
    }
}

/// Nothing expires during a test, except the wait for an answer.
fn endless() -> Settings {
    Settings {
        lease: 10 * LONG,
        grace: 10 * LONG,
        answer_within: Duration::from_secs(1),
        ..patient()
    }
}

#[tokio::test]
async fn connecting_to_a_silent_redis_fails_in_time() {
    let world = World::start().await;
    world.stores.redis().unwrap().pause().unwrap();
    let client = redis::Client::open(world.stores.redis_url()).unwrap();
    let connected = timeout(LONG, Baton::connect(client, endless())).await;
    world.stores.redis().unwrap().resume().unwrap();
    assert!(connected.unwrap().is_err());
}

#[tokio::test]
async fn a_release_over_a_dead_connection_is_repeated_over_a_new_one() {
    let mut world = World::start().await;
    for is_awaited in [true, false] {
        let Relayed {
            process,
            relay,
            _folder,
        } = Relayed::new(&world, endless()).await;
        let held = lock(&process).await;
        relay.silence_open();
        if is_awaited {
            assert!(held.release().await.is_err());
        } else {
            drop(held);
        }
        world.free().await;
    }
}

#[tokio::test]
async fn a_lock_is_renewed_although_the_connection_died() {
    let mut world = World::start().await;
    let settings = Settings {
        lease: Duration::from_secs(6),
        grace: LONG,
        answer_within: LONG,
        ..patient()
    };
    let Relayed {
        process,
        relay,
        _folder,
    } = Relayed::new(&world, settings).await;
    let held = lock(&process).await;
    relay.silence_open();
    world.renewed().await;
    assert!(!held.is_lost());
}

#[tokio::test]
async fn a_subscription_that_is_not_answered_is_tried_again() {
    let mut world = World::start().await;
    let recorder = Arc::new(Recorder::default());
    let settings = Settings {
        hook: Some(recorder.clone()),
        ..endless()
    };
    let Relayed {
        process,
        relay,
        _folder,
    } = Relayed::new(&world, settings).await;
    relay.silence();
    relay.cut();
    let is_subscribe = |operation: &Operation| *operation == Operation::Subscribe;
    let subscribed = || recorder.operations().into_iter().filter(is_subscribe).count();
    // The first one succeeded before; the later ones fail.
    let trying = async {
        while subscribed() < 3 {
            tokio::time::sleep(Duration::from_millis(1)).await;
        }
    };
    assert!(timeout(LONG, trying).await.is_ok(), "it still waits for an answer");
    relay.pass();
    lock(&process).await.release().await.unwrap();
    let other = world.process(endless()).await;
    let held = lock(&other).await;
    let waiter = waiting(&process);
    world.queued(1).await;
    held.release().await.unwrap();
    waiter.await.unwrap().release().await.unwrap();
}

#[tokio::test]
async fn a_delayed_question_shortens_no_lease() {
    let mut world = World::start().await;
    let process = world.process(endless()).await;
    let _held = lock(&process).await;
    let keys = Baton::keys(LOCK);
    let token: String = world.redis.get(&keys[0]).await.unwrap();
    let acquire = redis::Script::new(concat!(
        include_str!("../../src/scripts/keys.lua"),
        include_str!("../../src/scripts/fences.lua"),
        include_str!("../../src/scripts/take.lua"),
        include_str!("../../src/scripts/hand_off.lua"),
        include_str!("../../src/scripts/acquire.lua")
    ));
    let mut late = acquire.key(&keys);
    let (owner, _): (String, u64) = late
        .arg(&token)
        .arg(1)
        .arg(1)
        .arg(1)
        .invoke_async(&mut world.redis)
        .await
        .unwrap();
    assert_eq!(owner, token, "it is held");
    assert!(world.redis.pttl::<_, i64>(&keys[0]).await.unwrap() > 1);
}
