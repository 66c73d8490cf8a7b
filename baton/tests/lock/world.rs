//! A Redis, processes on it, and a separate view of the keys in Redis.

use std::sync::Arc;
use std::time::Duration;

use baton::{Baton, Held, Settings};
use redis::AsyncCommands;
use redis::aio::MultiplexedConnection;
use stack::{Parts, Stores};
use tokio::task::JoinHandle;
use tokio::time::timeout;

/// Longer than any step takes on any machine.
pub const LONG: Duration = Duration::from_secs(30);

pub const LOCK: &str = "sku-1";

/// Times longer than any test.
pub fn patient() -> Settings {
    Settings {
        lease: LONG,
        grace: LONG,
        ..Settings::default()
    }
}

pub struct World {
    pub stores: Stores,
    pub redis: MultiplexedConnection,
}

impl World {
    pub async fn start() -> Self {
        let parts = Parts {
            redis_url: None,
            sql_url: None,
            fetch: true,
        };
        let stores = Stores::start(&parts).unwrap();
        let client = redis::Client::open(stores.redis_url()).unwrap();
        let redis = client.get_multiplexed_async_connection().await.unwrap();
        Self { stores, redis }
    }

    pub async fn process(&self, settings: Settings) -> Arc<Baton> {
        let client = redis::Client::open(self.stores.redis_url()).unwrap();
        Arc::new(Baton::connect(client, settings).await.unwrap())
    }

    /// Cuts every connection of this kind, `normal` or `pubsub`, except that of the test itself.
    pub async fn cut(&mut self, kind: &str) {
        let mut kill = redis::cmd("CLIENT");
        kill.arg(&["KILL", "TYPE", kind, "SKIPME", "yes"]);
        let _: usize = kill.query_async(&mut self.redis).await.unwrap();
    }

    /// Waits until the queue has this many waiters.
    pub async fn queued(&mut self, waiters: usize) {
        let [_, queue, _] = Baton::keys(LOCK);
        let looking = async {
            while self.redis.llen::<_, usize>(&queue).await.unwrap() != waiters {
                tokio::time::sleep(Duration::from_millis(1)).await;
            }
        };
        assert!(
            timeout(LONG, looking).await.is_ok(),
            "the queue never had {waiters} waiters"
        );
    }

    /// Waits until a renewal extends the lease.
    pub async fn renewed(&mut self) {
        let [owner, ..] = Baton::keys(LOCK);
        let mut left: i64 = self.redis.pttl(&owner).await.unwrap();
        loop {
            let now: i64 = self.redis.pttl(&owner).await.unwrap();
            assert!(now > 0, "the lease ended");
            if now > left {
                return;
            }
            left = now;
            tokio::time::sleep(Duration::from_millis(1)).await;
        }
    }

    /// Waits until nobody holds the lock.
    pub async fn free(&mut self) {
        let [owner, ..] = Baton::keys(LOCK);
        let looking = async {
            while self.redis.exists::<_, bool>(&owner).await.unwrap() {
                tokio::time::sleep(Duration::from_millis(1)).await;
            }
        };
        assert!(timeout(LONG, looking).await.is_ok(), "the lock is not free");
    }
}

/// Takes the lock, or fails after [`LONG`].
pub async fn lock(baton: &Baton) -> Held {
    let held = timeout(LONG, baton.lock(LOCK)).await;
    held.expect("the lock did not come").unwrap()
}

/// Waits for the lock in a separate task.
pub fn waiting(baton: &Arc<Baton>) -> JoinHandle<Held> {
    let baton = baton.clone();
    tokio::spawn(async move { lock(&baton).await })
}
