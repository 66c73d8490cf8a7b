//! Ends of locks, heard over one pub/sub connection and passed to the waiters of this instance.
//!
//! One pattern subscription serves all items, open before anybody waits: no SUBSCRIBE stands on the way of a waiter,
//! so no message can fall between a failed attempt and the beginning of the wait. As in Redisson each instance wakes
//! one waiter per release; the instances then race.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard};
use std::time::Duration;

use redis::Msg;
use tokio::sync::Notify;
use tokio::time::error::Elapsed;
use tokio::time::{sleep, timeout};
use tokio_util::task::AbortOnDropHandle;

use crate::domain::Error;
use crate::probe::{Probe, Step};
use crate::stores::Redis;
use crate::world::World;

pub(in crate::guards) const SUBSCRIBE: Step = Step::command("subscribe", &["PSUBSCRIBE"]);
pub(in crate::guards) const RECEIVE: Step = Step::local("receive");
pub(in crate::guards) const PING: Step = Step::command("ping", &["PING"]);

/// The channels of all items.
const PATTERN: &str = "released:*";

/// Silence after which the subscription is asked whether it still lives. One that went dead without a word would leave
/// every waiter to the end of the lease.
const QUIET: Duration = Duration::from_secs(1);

/// Pause before a lost subscription is tried again.
const AGAIN_AFTER: Duration = Duration::from_millis(100);

/// The waiters of this instance, by channel. A channel is in the map only while somebody waits at it.
#[derive(Default)]
pub(in crate::guards) struct Wakeups {
    waiters: Mutex<HashMap<String, Arc<Notify>>>,
}

impl Wakeups {
    /// Joins the waiters at `channel`.
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
            // And one who is just about to wait.
            bell.notify_one();
        }
    }
}

/// A place among the waiters, given up when dropped.
pub(in crate::guards) struct ChannelWaiter<'a> {
    wakeups: &'a Wakeups,
    channel: &'a str,
    bell: Arc<Notify>,
}

impl ChannelWaiter<'_> {
    /// Comes back after a release. One that came before this call is not lost.
    pub(in crate::guards) async fn woken(&self) {
        self.bell.notified().await;
    }
}

impl Drop for ChannelWaiter<'_> {
    fn drop(&mut self) {
        let mut waiters = self.wakeups.waiters();
        // The map's own and this one: nobody else waits here.
        if Arc::strong_count(&self.bell) <= 2 {
            waiters.remove(self.channel);
        }
    }
}

/// Begins to listen, until the handle is dropped.
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
    // What was published while nobody listened is gone: let everybody look for themselves.
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
