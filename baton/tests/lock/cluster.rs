//! The lock in a Redis Cluster: a handoff comes on a channel in the slot of the lock.

use std::sync::Arc;

use baton::{Baton, Released};
use redis::cluster::{ClusterClient, ClusterConfig};
use redis::{Client, Connection, ProtocolVersion, cmd};
use stack::{Parts, Stores};
use tokio::task::spawn_blocking;
use tokio::time::timeout;

use crate::world::{LOCK, LONG, lock, patient, waiting};

struct Cluster {
    stores: Arc<Stores>,
    urls: Vec<String>,
}

impl Cluster {
    fn start() -> Self {
        let nowhere = Some("nowhere".to_owned());
        let parts = Parts {
            redis_url: nowhere.clone(),
            sql_url: nowhere,
            fetch: true,
        };
        let mut stores = Stores::start(&parts).unwrap();
        let urls = stores.start_service("cluster", true).unwrap().to_vec();
        Self {
            stores: Arc::new(stores),
            urls,
        }
    }

    async fn process(&self) -> Arc<Baton> {
        let urls = || self.urls.iter().map(String::as_str);
        let scripts = ClusterClient::new(urls()).unwrap();
        let messages = ClusterClient::builder(urls()).use_protocol(ProtocolVersion::RESP3);
        let open = move || Ok(scripts.get_pending_async_connection_with_config(ClusterConfig::new()));
        let process = Baton::connect_cluster(open, &messages.build().unwrap(), patient()).await;
        Arc::new(process.unwrap())
    }

    /// Asks every node that answers, and returns the sum.
    fn sum(&self, ask: impl Fn(&mut Connection) -> redis::RedisResult<usize>) -> usize {
        let nodes = self.urls.iter().filter_map(|url| Client::open(url.as_str()).ok());
        let answers = nodes.filter_map(|node| ask(&mut node.get_connection().ok()?).ok());
        answers.sum()
    }

    /// Waits until so many purchases are in the queue, and so many processes listen.
    async fn until(&self, queued: usize, listening: usize) {
        let [_, queue, _] = Baton::keys(LOCK);
        let looking = async {
            loop {
                let waiters = self.sum(|node| cmd("LLEN").arg(&queue).query(node));
                let mut channels = cmd("PUBSUB");
                channels.arg("SHARDCHANNELS");
                let channels = self.sum(|node| channels.query(node).map(|all: Vec<String>| all.len()));
                if (waiters, channels) == (queued, listening) {
                    return;
                }
                tokio::task::yield_now().await;
            }
        };
        let reached = timeout(LONG, looking).await;
        assert!(reached.is_ok(), "never {queued} in the queue and {listening} listening");
    }

    /// Whether the lock belongs to a waiter, which need not know it yet.
    fn is_held(&self) -> bool {
        let [owner, ..] = Baton::keys(LOCK);
        self.sum(|node| cmd("EXISTS").arg(&owner).query(node)) == 1
    }

    /// Does something to the cluster that takes a while.
    async fn change<T: Send + 'static>(&self, change: impl FnOnce(&Stores) -> T + Send + 'static) -> T {
        let stores = self.stores.clone();
        spawn_blocking(move || change(&stores)).await.unwrap()
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_holder_hands_the_lock_to_another_process() {
    let cluster = Cluster::start();
    let (first, second) = (cluster.process().await, cluster.process().await);
    let mut held = lock(&first).await;
    for _ in 0..3 {
        let fence = held.fence();
        let waiter = waiting(&second);
        cluster.until(1, 1).await;
        assert_eq!(held.release().await.unwrap(), Released::InTime);
        assert!(
            cluster.is_held(),
            "the script found no listener, and the lock was free for a while"
        );
        held = waiter.await.unwrap();
        assert!(held.fence() > fence);
        let waiter = waiting(&first);
        cluster.until(1, 1).await;
        held.release().await.unwrap();
        held = waiter.await.unwrap();
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_channel_for_which_nobody_waits_is_closed() {
    let cluster = Cluster::start();
    let (first, second) = (cluster.process().await, cluster.process().await);
    let held = lock(&first).await;
    let waiter = waiting(&second);
    cluster.until(1, 1).await;
    held.release().await.unwrap();
    waiter.await.unwrap().release().await.unwrap();
    cluster.until(0, 0).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_waiter_gets_the_lock_whose_slot_has_moved() {
    let cluster = Cluster::start();
    let (first, second) = (cluster.process().await, cluster.process().await);
    let held = lock(&first).await;
    let waiter = waiting(&second);
    cluster.until(1, 1).await;
    let [owner, ..] = Baton::keys(LOCK);
    let moves = move |stores: &Stores| {
        let migration = stores.begin_slot_migration(&owner).unwrap();
        stores.end_slot_migration(migration).unwrap();
    };
    cluster.change(moves).await;
    // The channel of the waiter is on the new node.
    cluster.until(1, 1).await;
    assert_eq!(held.release().await.unwrap(), Released::InTime);
    waiter.await.unwrap().release().await.unwrap();
}

#[tokio::test(flavor = "multi_thread")]
async fn a_waiter_gets_the_lock_whose_primary_has_died() {
    let cluster = Cluster::start();
    let (first, second) = (cluster.process().await, cluster.process().await);
    let [owner, ..] = Baton::keys(LOCK);
    let dies = move |stores: &Stores| {
        let partition = stores.cut_off_cluster_replica(&owner).unwrap();
        stores.fail_over_cluster(partition).unwrap();
    };
    lock(&first).await.release().await.unwrap();
    cluster.change(dies).await;
    let held = lock(&first).await;
    let waiter = waiting(&second);
    cluster.until(1, 1).await;
    assert_eq!(held.release().await.unwrap(), Released::InTime);
    waiter.await.unwrap().release().await.unwrap();
}
