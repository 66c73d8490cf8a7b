//! An instance that stands still: it answers nobody for a while, and then the same process does.

use std::net::SocketAddr;
use std::time::Duration;

use tokio::sync::watch;
use tokio::task::JoinSet;
use tokio::time::{Instant, interval, sleep, timeout};

use super::Instances;

/// How often an instance is asked whether it answers, and whoever waits for that is told how long it has not.
const EVERY: Duration = Duration::from_millis(20);

/// The longest time that a question waits for its answer: longer than any instance is made to stand still.
const PATIENCE: Duration = Duration::from_secs(20);

/// The longest times so far, over all instances.
#[derive(Clone, Copy, Default)]
struct Longest {
    /// Without an answer, which may be yet to come.
    silent: Duration,
    /// The same, and in the end it was answered by the process that was asked.
    still: Duration,
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
            let answer = loop {
                tokio::select! {
                    answer = &mut question => break answer,
                    _ = tick.tick() => longest.send_modify(|longest| longest.silent = longest.silent.max(asked.elapsed())),
                }
            };
            if answer.is_some_and(|identity| known.is_none() || identity.process == known) {
                longest.send_modify(|longest| longest.still = longest.still.max(asked.elapsed()));
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
        self.seen(|longest| longest.silent >= for_at_least, within).await
    }

    /// Whether an instance has stood still for so long and goes on now, or is seen to within a time.
    pub async fn stood_still(&self, for_at_least: Duration, within: Duration) -> bool {
        self.seen(|longest| longest.still >= for_at_least, within).await
    }

    async fn seen(&self, enough: impl Fn(&Longest) -> bool, within: Duration) -> bool {
        let mut longest = self.longest.subscribe();
        timeout(within, longest.wait_for(enough)).await.is_ok()
    }
}
