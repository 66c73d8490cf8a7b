//! Detection of an instance that stands still: it does not answer for a while, and then the same process answers.

use std::time::{Duration, Instant};

use tokio::sync::watch;
use tokio::task::JoinSet;
use tokio::time::{interval, sleep, timeout};

use super::{Identity, Instances, Listener};

/// The pause between two questions to an instance, and between two updates of the time without an answer.
const EVERY: Duration = Duration::from_millis(20);

/// The longest wait for an answer: longer than any instance is made to stand still.
const PATIENCE: Duration = Duration::from_secs(20);

/// The longest times so far, over all instances.
#[derive(Clone, Default)]
struct Longest {
    /// Without an answer, which may still come.
    silent: Duration,
    /// The longest stall that ended with an answer of the same process.
    still: Option<Stall>,
}

/// A time in which an instance did not answer at its admin listener.
#[derive(Clone, Debug)]
pub struct Stall {
    /// Its name, if it gives one.
    pub instance: Option<String>,
    /// When the question was sent.
    pub from: Instant,
    /// When the answer came.
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
        for listener in self.listeners().await {
            let known = self.ask(&listener).await.and_then(|identity| identity.process);
            asking.spawn(self.clone().ask_on(listener, known, longest.clone()));
        }
        StallWatch {
            longest,
            _asking: asking,
        }
    }

    /// Asks one instance again and again. An answer of another process is no end of a stall: that process was started
    /// meanwhile.
    async fn ask_on(self, listener: Listener, known: Option<String>, longest: watch::Sender<Longest>) {
        loop {
            let (asked, mut tick) = (Instant::now(), interval(EVERY));
            let question = self.ask_within(&listener, PATIENCE);
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
    /// Returns whether an instance is silent for that long, within the given time.
    pub async fn is_silent(&self, for_at_least: Duration, within: Duration) -> bool {
        self.seen(|longest| longest.silent >= for_at_least, within)
            .await
            .is_some()
    }

    /// Returns the stall of an instance that lasted that long, if one ends within the given time.
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
