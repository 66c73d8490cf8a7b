//! The waiters of this process, and the locks that it owns.

use std::collections::{HashMap, VecDeque};
use std::sync::Arc;
use std::time::Duration;

use tokio::sync::oneshot;
use tokio::time::Instant;

use crate::lease::Lease;
use crate::scripts::Handoff;

/// A token that waits for Redis to give it the lock.
struct Waiter {
    /// When it last asked: by the clock of this process, and by the clock of Redis once an answer came.
    asked: Instant,
    asked_us: Option<u64>,
    grant: oneshot::Sender<Grant>,
}

impl Waiter {
    /// The latest moment that is certainly not after the handoff at `at_us`. Only the difference of two readings of the
    /// clock of Redis counts. If that clock was set meanwhile, the result is at worst this moment.
    fn began(&self, at_us: u64, now: Instant) -> Instant {
        let since = self.asked_us.map_or(0, |asked_us| at_us.saturating_sub(asked_us));
        now.min(self.asked + Duration::from_micros(since))
    }
}

/// The lock, as its next holder receives it.
pub(crate) struct Grant {
    pub(crate) lease: Arc<Lease>,
    /// The first fence that is reserved for this holder.
    pub(crate) fence: u64,
}

/// A waiter to which Redis gave the lock, alone or after others of this process.
struct Successor {
    fence: u64,
    /// Dropped unsent when the lease ended before.
    grant: oneshot::Sender<Grant>,
}

struct Owned {
    lease: Arc<Lease>,
    /// The holders after the present one.
    successors: VecDeque<Successor>,
}

/// All waiters of a process by their tokens, and all its locks by their owners.
pub(crate) struct Waiters {
    grace: Duration,
    waiting: HashMap<String, Waiter>,
    owned: HashMap<String, Owned>,
}

impl Waiters {
    pub(crate) fn new(grace: Duration) -> Self {
        Self {
            grace,
            waiting: HashMap::new(),
            owned: HashMap::new(),
        }
    }

    /// Adds a waiter. Call it before the question goes to Redis: the handoff may arrive before the answer.
    pub(crate) fn add(&mut self, token: &str) -> oneshot::Receiver<Grant> {
        let (grant, granted) = oneshot::channel();
        let waiter = Waiter {
            asked: Instant::now(),
            asked_us: None,
            grant,
        };
        self.waiting.insert(token.to_owned(), waiter);
        granted
    }

    /// Notes that Redis queued a token whose question was sent at `sent`.
    pub(crate) fn note_queued(&mut self, token: &str, sent: Instant, now_us: u64) {
        if let Some(waiter) = self.waiting.get_mut(token) {
            waiter.asked = sent;
            waiter.asked_us = Some(now_us);
        }
    }

    /// Whether a token still waits for Redis, as far as this process knows.
    pub(crate) fn is_waiting(&self, token: &str) -> bool {
        self.waiting.contains_key(token)
    }

    /// Removes a waiter. Whether it was still waiting.
    pub(crate) fn remove(&mut self, token: &str) -> bool {
        self.waiting.remove(token).is_some()
    }

    /// Notes that Redis gave this process a lock, after `asked` if that is known. Returns the lease, or None if the
    /// handoff was known already.
    pub(crate) fn own(&mut self, handoff: &Handoff<'_>, asked: Option<Instant>) -> Option<Arc<Lease>> {
        if self.owned.contains_key(handoff.owner) {
            return None;
        }
        let now = Instant::now();
        let mut began = asked;
        let mut successors = VecDeque::new();
        for (token, fence) in handoff.tokens() {
            if let Some(waiter) = self.waiting.remove(token) {
                began.get_or_insert_with(|| waiter.began(handoff.at_us, now));
                let grant = waiter.grant;
                successors.push_back(Successor { fence, grant });
            }
        }
        let (name, owner) = (handoff.name.to_owned(), handoff.owner.to_owned());
        let lease = Arc::new(Lease::new(name, owner.clone(), began.unwrap_or(now), self.grace));
        let owned = Owned {
            lease: lease.clone(),
            successors,
        };
        self.owned.insert(owner, owned);
        Some(lease)
    }

    /// Grants the lock to its next holder, past those that stopped waiting. False if the lease has ended or nobody is
    /// left: then the lock no longer belongs to this process.
    pub(crate) fn pass_on(&mut self, owner: &str) -> bool {
        let Some(owned) = self.owned.get_mut(owner) else {
            return false;
        };
        while !owned.lease.is_lost()
            && let Some(Successor { fence, grant }) = owned.successors.pop_front()
        {
            let lease = owned.lease.clone();
            if grant.send(Grant { lease, fence }).is_ok() {
                return true;
            }
        }
        self.owned.remove(owner);
        false
    }

    /// The leases to renew now. Forgets those that have ended.
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

    fn handoff(owner: &str, at_us: u64) -> Handoff<'_> {
        Handoff {
            owner,
            fence: 7,
            at_us,
            name: "lock",
        }
    }

    #[tokio::test]
    async fn the_waiters_of_a_handoff_get_the_lock_in_its_order() {
        let mut waiters = Waiters::new(GRACE);
        let [mut first, second, mut third] = ["p:1:1", "p:2:1", "p:3:1"].map(|token| waiters.add(token));
        assert!(waiters.remove("p:2:1"));
        drop(second);
        let owner = "p:3:1,p:2:1,p:1:1";
        assert!(waiters.own(&handoff(owner, 0), None).is_some());
        assert!(waiters.own(&handoff(owner, 0), None).is_none(), "it is known");
        assert!(!waiters.remove("p:1:1"), "it has the lock");
        assert!(waiters.pass_on(owner));
        assert!(first.try_recv().is_err(), "the third is before it");
        assert_eq!(third.try_recv().map(|grant| grant.fence), Ok(7));
        assert!(waiters.pass_on(owner));
        assert_eq!(first.try_recv().map(|grant| grant.fence), Ok(9));
        assert!(!waiters.pass_on(owner));
        assert!(waiters.due(Instant::now() + GRACE).is_empty(), "nobody holds it");
    }

    #[tokio::test]
    async fn a_successor_that_stopped_waiting_is_passed_over() {
        let mut waiters = Waiters::new(GRACE);
        let [gone, mut next] = ["p:1:1", "p:2:1"].map(|token| waiters.add(token));
        waiters.own(&handoff("p:1:1,p:2:1", 0), None);
        drop(gone);
        assert!(waiters.pass_on("p:1:1,p:2:1"));
        assert_eq!(next.try_recv().map(|grant| grant.fence), Ok(8));
    }

    #[tokio::test(start_paused = true)]
    async fn a_successor_whose_lease_has_ended_learns_it() {
        let mut waiters = Waiters::new(GRACE);
        let [_first, second] = ["p:1:1", "p:2:1"].map(|token| waiters.add(token));
        waiters.own(&handoff("p:1:1,p:2:1", 0), None);
        assert!(waiters.pass_on("p:1:1,p:2:1"));
        tokio::time::advance(GRACE).await;
        assert!(!waiters.pass_on("p:1:1,p:2:1"));
        assert!(second.await.is_err());
    }

    #[tokio::test(start_paused = true)]
    async fn a_handoff_that_was_delayed_has_less_of_its_grace_left() {
        let mut waiters = Waiters::new(GRACE);
        for (token, given_us, is_lost) in [("p:1:1", 6_000_000, false), ("p:2:1", 5_000_000, true)] {
            let _granted = waiters.add(token);
            waiters.note_queued(token, Instant::now(), 5_000_000);
            tokio::time::advance(GRACE).await;
            let lease = waiters.own(&handoff(token, given_us), None);
            assert_eq!(lease.map(|lease| lease.is_lost()), Some(is_lost), "{token}");
        }
    }

    #[tokio::test(start_paused = true)]
    async fn a_clock_that_jumps_ahead_makes_no_lease_longer() {
        let mut waiters = Waiters::new(GRACE);
        let _granted = waiters.add("p:1:1");
        waiters.note_queued("p:1:1", Instant::now(), 0);
        let lease = waiters.own(&handoff("p:1:1", 3_600_000_000), None);
        tokio::time::advance(GRACE).await;
        assert!(lease.is_some_and(|lease| lease.is_lost()));
    }
}
