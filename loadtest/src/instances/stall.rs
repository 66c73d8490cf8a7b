//! An instance that stands still: it answers nobody for a while, and then the same process does.

use std::net::SocketAddr;
use std::time::Duration;

use tokio::sync::watch;
use tokio::task::JoinSet;
use tokio::time::{Instant, sleep, timeout};

use super::Instances;

/// How often an instance is asked whether it answers.
const EVERY: Duration = Duration::from_millis(20);

/// The longest time that a question waits for its answer: longer than any instance is made to stand still.
const PATIENCE: Duration = Duration::from_secs(20);

impl Instances {
    /// Asks each instance again and again from now on.
    pub async fn watch_stalls(&self) -> StallWatch {
        let longest = watch::Sender::new(Duration::ZERO);
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
    async fn ask_on(self, at: SocketAddr, known: Option<String>, longest: watch::Sender<Duration>) {
        loop {
            let asked = Instant::now();
            let answer = self.ask_within(at, PATIENCE).await;
            if answer.is_some_and(|identity| known.is_none() || identity.process == known) {
                let took = asked.elapsed();
                longest.send_if_modified(|longest| {
                    let is_longer = took > *longest;
                    *longest = (*longest).max(took);
                    is_longer
                });
            }
            sleep(EVERY).await;
        }
    }
}

/// Notices an instance that stands still, until it is dropped.
pub struct StallWatch {
    longest: watch::Sender<Duration>,
    _asking: JoinSet<()>,
}

impl StallWatch {
    /// Whether an instance has stood still for so long, or is seen to within a time.
    pub async fn stalled(&self, for_at_least: Duration, within: Duration) -> bool {
        let mut longest = self.longest.subscribe();
        let seen = longest.wait_for(|longest| *longest >= for_at_least);
        timeout(within, seen).await.is_ok()
    }
}
