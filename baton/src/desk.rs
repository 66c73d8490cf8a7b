//! Who waits for a lock in this process, and who holds one.

use std::collections::HashMap;
use std::sync::Arc;
use std::time::Duration;

use tokio::sync::oneshot;
use tokio::time::Instant;

use crate::lease::Lease;
use crate::scripts::Turn;

/// A lock that was had.
pub(crate) struct Had {
    pub(crate) lease: Arc<Lease>,
    pub(crate) fence: u64,
}

/// A waiter.
struct Waiter {
    name: String,
    /// When it asked last, by the clock here, and by Redis' clock once that has answered.
    asked: Instant,
    asked_us: Option<u64>,
    turn: oneshot::Sender<Had>,
}

impl Waiter {
    /// The latest moment before which Redis cannot have given it a turn that says `at_us`. Of two readings of Redis' clock the
    /// difference counts, and a clock that was set back or forth meanwhile can at most say that it was just now.
    fn began(&self, at_us: u64, now: Instant) -> Instant {
        let since = self.asked_us.map_or(0, |asked_us| at_us.saturating_sub(asked_us));
        now.min(self.asked + Duration::from_micros(since))
    }
}

/// What becomes of a turn that Redis told of.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Delivered {
    /// It was waited for, or is known already.
    Yes,
    /// Nobody here wants it any more.
    No,
}

/// All waiters and holders of a process, by their tokens.
pub(crate) struct Desk {
    grace: Duration,
    waiting: HashMap<String, Waiter>,
    held: HashMap<String, Arc<Lease>>,
}

impl Desk {
    pub(crate) fn new(grace: Duration) -> Self {
        Self {
            grace,
            waiting: HashMap::new(),
            held: HashMap::new(),
        }
    }

    /// Before Redis is asked: its word may come before its answer.
    pub(crate) fn wait(&mut self, name: &str, token: &str) -> oneshot::Receiver<Had> {
        let (turn, told) = oneshot::channel();
        let waiter = Waiter {
            name: name.to_owned(),
            asked: Instant::now(),
            asked_us: None,
            turn,
        };
        self.waiting.insert(token.to_owned(), waiter);
        told
    }

    /// Redis answered a question that was sent at `sent`: not yet.
    pub(crate) fn wait_on(&mut self, token: &str, sent: Instant, now_us: u64) {
        if let Some(waiter) = self.waiting.get_mut(token) {
            waiter.asked = sent;
            waiter.asked_us = Some(now_us);
        }
    }

    /// Redis answered a question that was sent at `sent`: it is yours.
    pub(crate) fn have(&mut self, name: &str, token: &str, fence: u64, sent: Instant) -> Had {
        self.waiting.remove(token);
        let grace = self.grace;
        let lease = self.held.entry(token.to_owned());
        let lease = lease.or_insert_with(|| Arc::new(Lease::new(name.to_owned(), token.to_owned(), sent, grace)));
        Had {
            lease: lease.clone(),
            fence,
        }
    }

    /// Redis told of a turn.
    pub(crate) fn deliver(&mut self, turn: &Turn<'_>) -> Delivered {
        let Some(waiter) = self.waiting.remove(turn.token) else {
            return if self.held.contains_key(turn.token) {
                Delivered::Yes
            } else {
                Delivered::No
            };
        };
        let began = waiter.began(turn.at_us, Instant::now());
        let lease = Arc::new(Lease::new(waiter.name, turn.token.to_owned(), began, self.grace));
        self.held.insert(turn.token.to_owned(), lease.clone());
        // Who has gone meanwhile finds it among what is held, and gives it back.
        let _ = waiter.turn.send(Had {
            lease,
            fence: turn.fence,
        });
        Delivered::Yes
    }

    /// Nobody waits with this token any more, or holds anything.
    pub(crate) fn leave(&mut self, token: &str) {
        self.waiting.remove(token);
        self.held.remove(token);
    }

    /// What is to be renewed now. What has ended is held no longer.
    pub(crate) fn due(&mut self, now: Instant) -> Vec<Arc<Lease>> {
        self.held.retain(|_, lease| !lease.is_lost());
        let due = self.held.values().filter(|lease| lease.is_due(now));
        due.cloned().collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const GRACE: Duration = Duration::from_secs(60);
    const TOKEN: &str = "p:1:1";

    fn turn(at_us: u64) -> Turn<'static> {
        Turn {
            token: TOKEN,
            fence: 7,
            at_us,
            name: "lock",
        }
    }

    #[tokio::test]
    async fn a_turn_is_delivered_to_who_waits_and_wanted_by_nobody_else() {
        let mut desk = Desk::new(GRACE);
        assert_eq!(desk.deliver(&turn(0)), Delivered::No);
        let told = desk.wait("lock", TOKEN);
        assert_eq!(desk.deliver(&turn(0)), Delivered::Yes);
        assert_eq!(told.await.map(|had| had.fence).ok(), Some(7));
        assert_eq!(desk.deliver(&turn(0)), Delivered::Yes, "it is held");
        desk.leave(TOKEN);
        assert_eq!(desk.deliver(&turn(0)), Delivered::No);
    }

    #[tokio::test(start_paused = true)]
    async fn a_turn_that_was_long_on_its_way_has_less_of_its_grace_left() {
        let mut desk = Desk::new(GRACE);
        let told = desk.wait("lock", TOKEN);
        desk.wait_on(TOKEN, Instant::now(), 5_000_000);
        tokio::time::advance(GRACE).await;
        // Given one second after it was asked for, heard a minute later.
        desk.deliver(&turn(6_000_000));
        let had = told.await.ok().map(|had| had.lease);
        assert!(had.is_some_and(|lease| !lease.is_lost()), "one second is left");
        let told = desk.wait("lock", "p:2:1");
        desk.wait_on("p:2:1", Instant::now(), 5_000_000);
        tokio::time::advance(GRACE).await;
        desk.deliver(&Turn {
            token: "p:2:1",
            ..turn(5_000_000)
        });
        assert!(told.await.is_ok_and(|had| had.lease.is_lost()));
    }

    #[tokio::test(start_paused = true)]
    async fn a_clock_that_jumps_forth_makes_no_lease_longer() {
        let mut desk = Desk::new(GRACE);
        let told = desk.wait("lock", TOKEN);
        desk.wait_on(TOKEN, Instant::now(), 0);
        desk.deliver(&turn(3_600_000_000));
        let lease = told.await.ok().map(|had| had.lease);
        tokio::time::advance(GRACE).await;
        assert!(lease.is_some_and(|lease| lease.is_lost()));
    }
}
