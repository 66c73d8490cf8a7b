//! Releases of locks, received over one pub/sub connection and passed to the waiters of this instance.
//!
//! One pattern subscription serves all items. It is open before the first waiter, so a waiter needs no SUBSCRIBE of its
//! own, and no message is lost between a failed attempt and the beginning of the wait. As in Redisson each instance
//! wakes one waiter per release; the instances then race.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard};
use std::time::Duration;

use redis::Msg;
use tokio::sync::Notify;
use tokio::time::error::Elapsed;
use tokio::time::{sleep, timeout};
use tokio_util::task::AbortOnDropHandle;

use crate::domain::Error;
use crate::probe::{Data, Probe, Step};
use crate::stores::Redis;
use crate::world::World;

pub(in crate::guards) const SUBSCRIBE: Step = Step::command("subscribe", &["PSUBSCRIBE"]).reads(Data::NONE);
pub(in crate::guards) const RECEIVE: Step = Step::wait("receive");
pub(in crate::guards) const PING: Step = Step::command("ping", &["PING"]).reads(Data::NONE);

/// The pattern of the channels of all items.
const PATTERN: &str = "released:*";

/// The silence after which a PING checks the subscription. A subscription that died unnoticed would leave every waiter
/// waiting until the lease ends.
const QUIET: Duration = Duration::from_secs(1);

/// The pause before a lost subscription is opened again.
const AGAIN_AFTER: Duration = Duration::from_millis(100);

/// The waiters of this instance, by channel. The map has a channel only while it has waiters.
#[derive(Default)]
pub(in crate::guards) struct Wakeups {
    waiters: Mutex<HashMap<String, Arc<Notify>>>,
}

impl Wakeups {
    /// Adds a waiter at `channel`.
    pub(in crate::guards) fn wait_at<'a>(&'a self, channel: &'a str) -> ChannelWaiter<'a> {
        let bell = self.waiters().entry(channel.to_owned()).or_default().clone();
        ChannelWaiter {
            wakeups: self,
            channel,
            bell,
        }
    }

    fn waiters(&self) -> MutexGuard<'_, HashMap<String, Arc<Notify>>> {
        self.waiters.lock().unwrap_or_else(|poisoned| poisoned.into_inner())
    }

    fn wake_one(&self, channel: &str) {
        if let Some(bell) = self.waiters().get(channel) {
            bell.notify_one();
        }
    }

    fn wake_all(&self) {
        for bell in self.waiters().values() {
            bell.notify_waiters();
            // Also reaches a waiter that is about to wait.
            bell.notify_one();
        }
    }
}

/// One waiter at a channel. Dropping it leaves the channel.
pub(in crate::guards) struct ChannelWaiter<'a> {
    wakeups: &'a Wakeups,
    channel: &'a str,
    bell: Arc<Notify>,
}

impl ChannelWaiter<'_> {
    /// Returns after a release. A release before this call is not lost.
    pub(in crate::guards) async fn woken(&self) {
        self.bell.notified().await;
    }
}

impl Drop for ChannelWaiter<'_> {
    fn drop(&mut self) {
        let mut waiters = self.wakeups.waiters();
        // Only the map and this waiter are left.
        if Arc::strong_count(&self.bell) <= 2 {
            waiters.remove(self.channel);
        }
    }
}

/// Starts to listen. Dropping the handle stops it.
pub(in crate::guards) fn start(redis: Arc<Redis>, world: &World) -> (Arc<Wakeups>, AbortOnDropHandle<()>) {
    let wakeups = Arc::<Wakeups>::default();
    let heard_by = wakeups.clone();
    let listener = world.start("listener", |probe| listen(redis, heard_by, probe));
    (wakeups, listener)
}

async fn listen(redis: Arc<Redis>, wakeups: Arc<Wakeups>, probe: Probe) {
    loop {
        if let Err(error) = receive(&redis, &wakeups, &probe).await {
            tracing::warn!(%error, "no wake-ups from redis; waiters fall back on the end of the lease");
        }
        sleep(AGAIN_AFTER).await;
    }
}

async fn receive(redis: &Redis, wakeups: &Wakeups, probe: &Probe) -> Result<(), Error> {
    let subscribe = redis.subscribe(PATTERN);
    let mut subscriber = probe.step(&SUBSCRIBE, &PATTERN, subscribe, |_| "listening").await?;
    // Messages from before the subscription are lost, so all waiters try again.
    wakeups.wake_all();
    loop {
        let message = timeout(QUIET, subscriber.next());
        match probe.local(&RECEIVE, &PATTERN, message, in_words).await {
            Ok(Some(message)) => wakeups.wake_one(message.get_channel_name()),
            Ok(None) => return Ok(()),
            Err(_) => probe.step(&PING, &PATTERN, subscriber.ping(), |()| "alive").await?,
        }
    }
}

fn in_words(received: &Result<Option<Msg>, Elapsed>) -> String {
    match received {
        Ok(Some(message)) => message.get_channel_name().to_owned(),
        Ok(None) => "connection lost".to_owned(),
        Err(_) => "nothing".to_owned(),
    }
}
