//! One request for a lock, from the first question to the grant.

use std::sync::Arc;
use std::time::Duration;

use tokio::sync::oneshot::error::TryRecvError;
use tokio::sync::{oneshot, watch};
use tokio::time::{Instant, timeout_at};

use crate::error::Error;
use crate::hold::Hold;
use crate::hook::{Hook, Operation, Summary, in_words, observed};
use crate::scripts::{AcquireReply, Handoff};
use crate::shared::Shared;
use crate::waiters::Grant;

/// A waiter asks again after the lease of a holder that does not renew it. For each place in the queue it asks this
/// much later, so that the first waiter asks first, and the second only if the first does not.
const LATER_PER_PLACE: Duration = Duration::from_millis(50);

/// A token that may be queued. Dropped before the grant, it leaves the queue. Dropped with an unread grant, it passes
/// the lock on.
pub(crate) struct Ticket {
    shared: Arc<Shared>,
    name: String,
    token: String,
    grant: oneshot::Receiver<Grant>,
    subscriptions: watch::Receiver<u64>,
}

/// Why a wait ended.
enum Woken {
    Granted(Hold),
    AskAgain,
    /// The token was to get the lock after others of this process, and the lease has ended.
    TooLate,
}

impl Woken {
    fn summary(&self) -> Summary {
        match self {
            Self::Granted(hold) => Summary::new("granted", Some(hold.fence)),
            Self::AskAgain => "not yet".into(),
            Self::TooLate => "too late".into(),
        }
    }
}

impl Ticket {
    /// Registers a token before anything is sent: the handoff may arrive before the answer.
    pub(crate) fn new(shared: &Arc<Shared>, name: &str) -> Self {
        let token = shared.token();
        Self {
            grant: shared.waiters().add(&token),
            subscriptions: shared.subscriptions.subscribe(),
            shared: shared.clone(),
            name: name.to_owned(),
            token,
        }
    }

    /// Waits for the lock. Returns None if it has not come by the deadline. It asks at least once.
    pub(crate) async fn wait(
        mut self,
        deadline: Option<Instant>,
        hook: Option<&dyn Hook>,
    ) -> Result<Option<Hold>, Error> {
        let mut is_again = false;
        loop {
            let ask_again_at = match self.is_waiting() {
                true => self.ask(is_again, hook).await?,
                // Redis gave the lock to this process, and only others of this process come first.
                false => None,
            };
            let until = [ask_again_at, deadline].into_iter().flatten().min();
            let name = self.name.clone();
            let woken = match self.grant.try_recv() {
                Ok(grant) => Woken::Granted(Hold::new(self.shared.clone(), grant)),
                Err(TryRecvError::Closed) => Woken::TooLate,
                Err(TryRecvError::Empty) => {
                    observed(hook, Operation::Wait, &name, self.woken(until), Woken::summary).await
                }
            };
            is_again = match woken {
                Woken::Granted(hold) => return Ok(Some(hold)),
                Woken::AskAgain => true,
                Woken::TooLate => {
                    self = Self::new(&self.shared, &name);
                    false
                }
            };
            if deadline.is_some_and(|deadline| deadline <= Instant::now()) {
                return Ok(None);
            }
        }
    }

    fn is_waiting(&self) -> bool {
        self.shared.waiters().is_waiting(&self.token)
    }

    /// Asks for the lock. Returns when to ask again, or None if Redis gave the lock. If it has to wait and this process
    /// would not hear of a handoff, it listens, and asks again: the handoff may have come before.
    async fn ask(&mut self, mut is_again: bool, hook: Option<&dyn Hook>) -> Result<Option<Instant>, Error> {
        loop {
            self.subscriptions.mark_unchanged();
            let is_heard = self.shared.hears(&self.name);
            let ask_again_at = self.ask_until_answered(is_again, hook).await?;
            match &self.shared.shards {
                Some(shards) if ask_again_at.is_some() && !is_heard => {
                    shards.open(&self.shared, &self.name, hook).await?;
                }
                _ => return Ok(ask_again_at),
            }
            is_again = true;
        }
    }

    /// Asks, and after a lost connection once more: a repeated question does nothing twice.
    async fn ask_until_answered(&self, is_again: bool, hook: Option<&dyn Hook>) -> Result<Option<Instant>, Error> {
        match self.ask_once(is_again, hook).await {
            Err(error) if error.is_cut() => self.ask_once(true, hook).await,
            answer => answer,
        }
    }

    async fn ask_once(&self, is_again: bool, hook: Option<&dyn Hook>) -> Result<Option<Instant>, Error> {
        let sent = Instant::now();
        let (scripts, grace, batch) = (&self.shared.scripts, self.shared.grace(), self.shared.settings.batch);
        let call = scripts.acquire(&self.name, &self.token, grace, is_again, batch);
        let answer = self.shared.wire.run(&call);
        let words = |answer: &Result<AcquireReply, Error>| {
            let fence = answer.as_ref().ok().and_then(AcquireReply::fence);
            Summary::new(in_words(answer, AcquireReply::in_words), fence)
        };
        match observed(hook, Operation::Acquire, &self.name, answer, words).await? {
            AcquireReply::Taken { fence } => self.own(&self.token, fence, sent),
            AcquireReply::Owned { owner, fence } => self.own(&owner, fence, sent),
            AcquireReply::Queued { ahead, lease, now_us } => {
                self.shared.waiters().note_queued(&self.token, sent, now_us);
                let place = u32::try_from(ahead).unwrap_or(u32::MAX).saturating_add(1);
                return Ok(Some(Instant::now() + lease + LATER_PER_PLACE.saturating_mul(place)));
            }
        }
        Ok(None)
    }

    /// Takes over the lock after the answer that it belongs to `owner`.
    fn own(&self, owner: &str, fence: u64, sent: Instant) {
        let handoff = Handoff {
            owner,
            fence,
            at_us: 0,
            name: &self.name,
        };
        self.shared.own(&handoff, Some(sent));
    }

    async fn woken(&mut self, until: Option<Instant>) -> Woken {
        let granted_or_resubscribed = async {
            tokio::select! {
                biased;
                grant = &mut self.grant => {
                    grant.map_or(Woken::TooLate, |grant| Woken::Granted(Hold::new(self.shared.clone(), grant)))
                }
                _ = self.subscriptions.changed() => Woken::AskAgain,
            }
        };
        match until {
            Some(until) => timeout_at(until, granted_or_resubscribed)
                .await
                .unwrap_or(Woken::AskAgain),
            None => granted_or_resubscribed.await,
        }
    }
}

impl Drop for Ticket {
    fn drop(&mut self) {
        if self.shared.waiters().remove(&self.token) {
            let (name, token) = (std::mem::take(&mut self.name), std::mem::take(&mut self.token));
            self.shared.release_in_background(name, token);
            return;
        }
        // A closed channel accepts no grant. A grant that is already in it goes to the next waiter.
        self.grant.close();
        if let Ok(grant) = self.grant.try_recv() {
            self.shared.pass_on_or_release(&grant.lease);
        }
    }
}
