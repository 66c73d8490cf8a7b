//! Who waits for a lock in this process, and who has one.

use std::collections::{HashMap, VecDeque};
use std::sync::Arc;
use std::time::Duration;

use tokio::sync::oneshot;
use tokio::time::Instant;

use crate::held::Hold;
use crate::lease::Lease;
use crate::scripts::Turn;

/// A waiter.
struct Waiter {
    /// When it asked last, by the clock here, and by Redis' clock once that has answered.
    asked: Instant,
    asked_us: Option<u64>,
    turn: oneshot::Sender<Hold>,
}

impl Waiter {
    /// The latest moment before which Redis cannot have given it a turn that says `at_us`. Of two readings of Redis' clock the
    /// difference counts, and a clock that was set back or forth meanwhile can at most say that it was just now.
    fn began(&self, at_us: u64, now: Instant) -> Instant {
        let since = self.asked_us.map_or(0, |asked_us| at_us.saturating_sub(asked_us));
        now.min(self.asked + Duration::from_micros(since))
    }
}

/// A waiter to whom Redis gave the lock, alone or after others of this process.
pub(crate) struct Heir {
    pub(crate) fence: u64,
    /// Closed before its turn, its lease has ended.
    pub(crate) turn: oneshot::Sender<Hold>,
}

/// A lock that belongs to this process.
struct Owned {
    lease: Arc<Lease>,
    /// Those who have it after who has it now.
    heirs: VecDeque<Heir>,
}

/// All waiters of a process, by their tokens, and all that it owns, by the owners.
pub(crate) struct Desk {
    grace: Duration,
    waiting: HashMap<String, Waiter>,
    owned: HashMap<String, Owned>,
}

impl Desk {
    pub(crate) fn new(grace: Duration) -> Self {
        Self {
            grace,
            waiting: HashMap::new(),
            owned: HashMap::new(),
        }
    }

    /// Before Redis is asked: its word may come before its answer.
    pub(crate) fn wait(&mut self, token: &str) -> oneshot::Receiver<Hold> {
        let (turn, told) = oneshot::channel();
        let waiter = Waiter {
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

    /// Whether Redis has not given it the lock yet, as far as is known here.
    pub(crate) fn is_waiting(&self, token: &str) -> bool {
        self.waiting.contains_key(token)
    }

    /// Nobody waits with this token any more. Whether somebody did.
    pub(crate) fn leave(&mut self, token: &str) -> bool {
        self.waiting.remove(token).is_some()
    }

    /// Redis gave this process a lock, after `asked` if that is known. Its lease; None when it was known already.
    pub(crate) fn own(&mut self, turn: &Turn<'_>, asked: Option<Instant>) -> Option<Arc<Lease>> {
        if self.owned.contains_key(turn.owner) {
            return None;
        }
        let now = Instant::now();
        let mut began = asked;
        let mut heirs = VecDeque::new();
        for (token, fence) in turn.tokens() {
            if let Some(waiter) = self.waiting.remove(token) {
                began.get_or_insert_with(|| waiter.began(turn.at_us, now));
                let turn = waiter.turn;
                heirs.push_back(Heir { fence, turn });
            }
        }
        let (name, owner) = (turn.name.to_owned(), turn.owner.to_owned());
        let lease = Arc::new(Lease::new(name, owner.clone(), began.unwrap_or(now), self.grace));
        let owned = Owned {
            lease: lease.clone(),
            heirs,
        };
        self.owned.insert(owner, owned);
        Some(lease)
    }

    /// Who has the lock next. None when the lease has ended or there is nobody: the lock is this process' no longer.
    pub(crate) fn next(&mut self, owner: &str) -> Option<(Arc<Lease>, Heir)> {
        let owned = self.owned.get_mut(owner)?;
        if !owned.lease.is_lost()
            && let Some(heir) = owned.heirs.pop_front()
        {
            return Some((owned.lease.clone(), heir));
        }
        self.owned.remove(owner);
        None
    }

    /// What is to be renewed now. What has ended is owned no longer.
    pub(crate) fn due(&mut self, now: Instant) -> Vec<Arc<Lease>> {
        self.owned.retain(|_, owned| !owned.lease.is_lost());
        let leases = self.owned.values().map(|owned| &owned.lease);
        leases.filter(|lease| lease.is_due(now)).cloned().collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const GRACE: Duration = Duration::from_secs(60);

    fn turn(owner: &str, at_us: u64) -> Turn<'_> {
        Turn {
            owner,
            fence: 7,
            at_us,
            name: "lock",
        }
    }

    /// The fences of those who have the lock one after the other.
    fn fences(desk: &mut Desk, owner: &str) -> Vec<u64> {
        std::iter::from_fn(|| desk.next(owner).map(|(_, heir)| heir.fence)).collect()
    }

    #[tokio::test]
    async fn a_turn_is_of_those_who_wait_in_its_order() {
        let mut desk = Desk::new(GRACE);
        let _told = ["p:1:1", "p:2:1", "p:3:1"].map(|token| desk.wait(token));
        assert!(desk.leave("p:2:1"));
        assert!(desk.own(&turn("p:3:1,p:2:1,p:1:1", 0), None).is_some());
        assert!(desk.own(&turn("p:3:1,p:2:1,p:1:1", 0), None).is_none(), "it is known");
        assert!(!desk.leave("p:1:1"), "it was called");
        assert_eq!(fences(&mut desk, "p:3:1,p:2:1,p:1:1"), [7, 9]);
        assert!(desk.due(Instant::now() + GRACE).is_empty(), "nobody has it");
    }

    #[tokio::test(start_paused = true)]
    async fn who_is_next_after_the_lease_ended_is_told_so() {
        let mut desk = Desk::new(GRACE);
        let told = ["p:1:1", "p:2:1"].map(|token| desk.wait(token));
        desk.own(&turn("p:1:1,p:2:1", 0), None);
        let first = desk.next("p:1:1,p:2:1");
        assert!(first.is_some());
        tokio::time::advance(GRACE).await;
        assert!(fences(&mut desk, "p:1:1,p:2:1").is_empty());
        let [_, second] = told;
        assert!(second.await.is_err());
    }

    #[tokio::test(start_paused = true)]
    async fn a_turn_that_was_long_on_its_way_has_less_of_its_grace_left() {
        let mut desk = Desk::new(GRACE);
        for (token, given_us, is_lost) in [("p:1:1", 6_000_000, false), ("p:2:1", 5_000_000, true)] {
            let _told = desk.wait(token);
            desk.wait_on(token, Instant::now(), 5_000_000);
            tokio::time::advance(GRACE).await;
            let lease = desk.own(&turn(token, given_us), None);
            assert_eq!(lease.map(|lease| lease.is_lost()), Some(is_lost), "{token}");
        }
    }

    #[tokio::test(start_paused = true)]
    async fn a_clock_that_jumps_forth_makes_no_lease_longer() {
        let mut desk = Desk::new(GRACE);
        let _told = desk.wait("p:1:1");
        desk.wait_on("p:1:1", Instant::now(), 0);
        let lease = desk.own(&turn("p:1:1", 3_600_000_000), None);
        tokio::time::advance(GRACE).await;
        assert!(lease.is_some_and(|lease| lease.is_lost()));
    }
}
