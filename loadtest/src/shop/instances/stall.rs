//! An instance that stands still: it answers nobody for a while, and then the same process does.

use std::net::SocketAddr;
use std::time::{Duration, Instant};

use tokio::sync::watch;
use tokio::task::JoinSet;
use tokio::time::{interval, sleep, timeout};

use super::{Identity, Instances};

/// How often an instance is asked whether it answers, and whoever waits for that is told how long it has not.
const EVERY: Duration = Duration::from_millis(20);

/// The longest time that a question waits for its answer: longer than any instance is made to stand still.
const PATIENCE: Duration = Duration::from_secs(20);

/// The longest times so far, over all instances.
#[derive(Clone, Default)]
struct Longest {
    /// Without an answer, which may be yet to come.
    silent: Duration,
    /// The same, and in the end it was answered by the process that was asked.
    still: Option<Stall>,
}

/// A time in which an instance did not answer at its admin listener.
#[derive(Clone, Debug)]
pub struct Stall {
    /// Its name, as far as it says so.
    pub instance: Option<String>,
    /// When it was asked.
    pub from: Instant,
    /// When it answered.
    pub to: Instant,
}

impl Stall {
    fn lasted(&self) -> Duration {
        self.to - self.from
    }
}

impl Instances {
    /// Asks each instance again and again from now on.
    pub async fn watch_stalls(&self) -> StallWatch {
        let longest = watch::Sender::default();
        let mut asking = JoinSet::new();
        for at in self.addresses().await {
            let known = self.ask(at).await.and_then(|identity| identity.process);
            asking.spawn(self.clone().ask_on(at, known, longest.clone()));
        }
        StallWatch {
            longest,
            _asking: asking,
        }
    }

    /// Another process has not stood still: it was started meanwhile.
    async fn ask_on(self, at: SocketAddr, known: Option<String>, longest: watch::Sender<Longest>) {
        loop {
            let (asked, mut tick) = (Instant::now(), interval(EVERY));
            let question = self.ask_within(at, PATIENCE);
            tokio::pin!(question);
            let response = loop {
                tokio::select! {
                    response = &mut question => break response,
                    _ = tick.tick() => longest.send_modify(|longest| longest.silent = longest.silent.max(asked.elapsed())),
                }
            };
            let same = response.filter(|identity| known.is_none() || identity.process == known);
            if let Some(Identity { instance, .. }) = same {
                let stall = Stall {
                    instance,
                    from: asked,
                    to: Instant::now(),
                };
                longest.send_modify(|longest| {
                    if longest
                        .still
                        .as_ref()
                        .is_none_or(|still| still.lasted() < stall.lasted())
                    {
                        longest.still = Some(stall);
                    }
                });
            }
            sleep(EVERY).await;
        }
    }
}

/// Notices an instance that stands still, until it is dropped.
pub struct StallWatch {
    longest: watch::Sender<Longest>,
    _asking: JoinSet<()>,
}

impl StallWatch {
    /// Whether an instance has answered nobody for so long, or is seen to within a time.
    pub async fn is_silent(&self, for_at_least: Duration, within: Duration) -> bool {
        self.seen(|longest| longest.silent >= for_at_least, within)
            .await
            .is_some()
    }

    /// When an instance stood still for so long that goes on now, or is seen to within a time.
    pub async fn stood_still(&self, for_at_least: Duration, within: Duration) -> Option<Stall> {
        let is_long = |stall: &Stall| stall.lasted() >= for_at_least;
        let seen = self.seen(|longest| longest.still.as_ref().is_some_and(is_long), within);
        seen.await?.still
    }

    async fn seen(&self, enough: impl Fn(&Longest) -> bool, within: Duration) -> Option<Longest> {
        let mut longest = self.longest.subscribe();
        let seen = timeout(within, longest.wait_for(enough)).await.ok()?;
        seen.ok().map(|longest| longest.clone())
    }
}
