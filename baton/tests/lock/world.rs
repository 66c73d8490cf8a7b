//! A Redis, processes on it, and what Redis holds, read behind their backs.

use std::sync::Arc;
use std::time::Duration;

use baton::{Baton, Held, Settings};
use redis::AsyncCommands;
use redis::aio::MultiplexedConnection;
use stack::{Parts, Stores};
use tokio::task::JoinHandle;
use tokio::time::timeout;

/// Longer than any machine needs.
pub const LONG: Duration = Duration::from_secs(30);

pub const LOCK: &str = "sku-1";

/// Times that no test waits out.
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

    /// Cuts every connection of this kind, `normal` or `pubsub`, but for the one that looks behind the backs.
    pub async fn cut(&mut self, kind: &str) {
        let mut kill = redis::cmd("CLIENT");
        kill.arg(&["KILL", "TYPE", kind, "SKIPME", "yes"]);
        let _: usize = kill.query_async(&mut self.redis).await.unwrap();
    }

    /// Comes back when so many stand in the queue.
    pub async fn queued(&mut self, waiters: usize) {
        let [_, queue, _] = Baton::keys(LOCK);
        let looking = async {
            while self.redis.llen::<_, usize>(&queue).await.unwrap() != waiters {
                tokio::time::sleep(Duration::from_millis(1)).await;
            }
        };
        assert!(
            timeout(LONG, looking).await.is_ok(),
            "there are not {waiters} in the queue"
        );
    }

    /// Comes back when more of the lease is left than a moment ago.
    pub async fn renewed(&mut self) {
        let [owner, ..] = Baton::keys(LOCK);
        let mut left: i64 = self.redis.pttl(&owner).await.unwrap();
        loop {
            let now: i64 = self.redis.pttl(&owner).await.unwrap();
            assert!(now > 0, "it ended");
            if now > left {
                return;
            }
            left = now;
            tokio::time::sleep(Duration::from_millis(1)).await;
        }
    }

    /// Comes back when nobody holds the lock.
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

/// Has the lock, in time.
pub async fn lock(baton: &Baton) -> Held {
    let held = timeout(LONG, baton.lock(LOCK)).await;
    held.expect("the lock was not to be had").unwrap()
}

/// Waits for it in a task of its own.
pub fn waiting(baton: &Arc<Baton>) -> JoinHandle<Held> {
    let baton = baton.clone();
    tokio::spawn(async move { lock(&baton).await })
}
