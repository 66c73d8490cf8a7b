//! Receives handoffs in a cluster: on one channel for each lock, in its slot, because only there a script learns whether
//! a process listens. A channel is opened when this process first waits for its lock.

use std::collections::HashSet;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use futures_util::future::join_all;
use redis::cluster::{ClusterClient, ClusterConfig};
use redis::cluster_async::ClusterConnection;
use redis::{PushInfo, PushKind, RedisResult, Value};
use tokio::sync::mpsc::{UnboundedReceiver, unbounded_channel};
use tokio::time::timeout;

use crate::error::Error;
use crate::hook::{Hook, Operation, in_words, observed};
use crate::listener::{QUIET, deliver, received_in_words};
use crate::scripts::{channel, shard_channel};
use crate::shared::Shared;
use crate::wire::in_time;

/// The most open channels. One more closes all, and each waiter opens its own again.
const MOST: usize = 1_000;

pub(crate) struct ShardChannels {
    connection: ClusterConnection,
    /// The locks whose channels are open, as far as this process knows.
    open: Mutex<HashSet<String>>,
}

impl ShardChannels {
    /// Connects to the nodes. The receiver has all that they send by themselves.
    pub(crate) async fn connect(client: &ClusterClient) -> RedisResult<(Self, UnboundedReceiver<PushInfo>)> {
        let (sender, pushes) = unbounded_channel();
        let config = ClusterConfig::new().set_push_sender(sender);
        let channels = Self {
            connection: client.get_async_connection_with_config(config).await?,
            open: Mutex::default(),
        };
        Ok((channels, pushes))
    }

    fn open_now(&self) -> MutexGuard<'_, HashSet<String>> {
        self.open.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Whether the channel of this lock is open.
    pub(crate) fn hear(&self, name: &str) -> bool {
        self.open_now().contains(name)
    }

    /// Opens the channel of a lock.
    pub(crate) async fn open(&self, shared: &Shared, name: &str, hook: Option<&dyn Hook>) -> Result<(), Error> {
        if self.open_now().len() >= MOST {
            self.close_all(shared).await;
        }
        let before = *shared.subscriptions.borrow();
        let channel = shard_channel(name, &shared.process);
        let mut connection = self.connection.clone();
        let subscribing = in_time(shared.settings.answer_within, connection.ssubscribe(&channel));
        let subscribed = async { Ok(subscribing.await?) };
        let words = |answer: &Result<(), Error>| in_words(answer, |()| "listening");
        observed(hook, Operation::ShardSubscribe, &channel, subscribed, words).await?;
        let mut open = self.open_now();
        if *shared.subscriptions.borrow() == before {
            open.insert(name.to_owned());
        }
        Ok(())
    }

    /// Closes all channels. A node that is silent holds up the messages of the others for [`QUIET`].
    async fn close_all(&self, shared: &Shared) {
        let names: Vec<String> = self.open_now().iter().cloned().collect();
        if !names.is_empty() {
            join_all(names.iter().map(|name| self.close(shared, name))).await;
            self.lose_all(shared);
        }
    }

    /// Closes the channel of a lock. After an error it stays open without a use until its connection ends.
    async fn close(&self, shared: &Shared, name: &str) {
        let channel = shard_channel(name, &shared.process);
        let mut connection = self.connection.clone();
        let leaving = in_time(QUIET, connection.sunsubscribe(&channel));
        let left = async { Ok(leaving.await?) };
        let words = |answer: &Result<(), Error>| in_words(answer, |()| "not listening");
        let hook = shared.settings.hook.as_deref();
        let _ = observed(hook, Operation::ShardUnsubscribe, &channel, left, words).await;
    }

    /// Notes that no channel is open any more: every waiter asks again, and opens its own.
    fn lose_all(&self, shared: &Shared) {
        let mut open = self.open_now();
        open.clear();
        // While the set is locked: a channel that was opened before the loss must not enter it afterwards.
        shared.subscriptions.send_modify(|count| *count += 1);
    }
}

/// Receives handoffs. After a second without any it closes the channels: one may be dead, and others have no waiter.
pub(crate) async fn listen(shared: Arc<Shared>, mut pushes: UnboundedReceiver<PushInfo>) {
    let Some(shards) = &shared.shards else { return };
    let channel = channel(&shared.process);
    let hook = shared.settings.hook.as_deref();
    loop {
        let push = timeout(QUIET, pushes.recv());
        match observed(hook, Operation::Receive, &channel, push, received_in_words).await {
            Ok(Some(push)) => take(&shared, shards, &push),
            Ok(None) => return,
            Err(_) => shards.close_all(&shared).await,
        }
    }
}

fn take(shared: &Arc<Shared>, shards: &ShardChannels, push: &PushInfo) {
    match (&push.kind, push.data.as_slice()) {
        (PushKind::SMessage, [_, Value::BulkString(message)]) => deliver(shared, message),
        // A node is gone.
        (PushKind::Disconnection, _) => shards.lose_all(shared),
        // A slot has moved to another node, unless this process has left the channel itself.
        (PushKind::SUnsubscribe, [Value::BulkString(left), ..]) => {
            let is_open = |name: &String| shard_channel(name, &shared.process).as_bytes() == left;
            if shards.open_now().iter().any(is_open) {
                shards.lose_all(shared);
            }
        }
        _ => {}
    }
}
