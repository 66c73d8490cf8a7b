//! A held lock, as the caller sees it.

use crate::error::Error;
use crate::hold::Hold;
use crate::hook::Hook;
use crate::lease::Lease;
use crate::local_queue::LocalHold;

/// Whether a released lock was held until its release.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Released {
    /// This holder had the lock until now.
    InTime,
    /// The lease had ended before. Another holder may have been inside at the same time.
    TooLate,
}

/// A held lock. Dropped without [`Held::release`] it is released in the background.
pub struct Held(HoldKind);

/// Where the lock came from.
enum HoldKind {
    Redis(Hold),
    LocalQueue(LocalHold),
}

impl Held {
    pub(crate) fn from_redis(hold: Hold) -> Self {
        Self(HoldKind::Redis(hold))
    }

    pub(crate) fn from_local_queue(hold: LocalHold) -> Self {
        Self(HoldKind::LocalQueue(hold))
    }

    /// Returns the fencing token: a number above that of every earlier holder. The store that you write to must refuse
    /// a number below the highest one that it has seen, and every write after a read that another holder's write has
    /// made stale: see the [rule](crate#the-rule-for-the-store).
    pub fn fence(&self) -> u64 {
        match &self.0 {
            HoldKind::Redis(hold) => hold.fence,
            HoldKind::LocalQueue(hold) => hold.fence(),
        }
    }

    /// Whether the lock is known to be lost, because nobody renewed it in time by the clock of this process. An answer
    /// of `false` may be wrong a moment later.
    pub fn is_lost(&self) -> bool {
        self.lease().is_lost()
    }

    /// Waits until the lock is lost.
    pub async fn lost(&self) {
        self.lease().lost().await;
    }

    /// Hands the lock to the next waiter.
    ///
    /// # Errors
    /// When Redis does not answer. A background task then tries a few more times. If they fail too, the lock stays
    /// taken until its lease ends.
    pub async fn release(self) -> Result<Released, Error> {
        self.release_through(None).await
    }

    /// As [`Held::release`], through a hook.
    ///
    /// # Errors
    /// As [`Held::release`].
    pub async fn release_observed(self, hook: &dyn Hook) -> Result<Released, Error> {
        self.release_through(Some(hook)).await
    }

    async fn release_through(self, hook: Option<&dyn Hook>) -> Result<Released, Error> {
        let was_held = !self.is_lost();
        let was_owner = match self.0 {
            HoldKind::Redis(hold) => hold.release(hook).await?,
            HoldKind::LocalQueue(hold) => hold.release(hook).await?,
        };
        Ok(if was_held && was_owner {
            Released::InTime
        } else {
            Released::TooLate
        })
    }

    fn lease(&self) -> &Lease {
        match &self.0 {
            HoldKind::Redis(hold) => &hold.lease,
            HoldKind::LocalQueue(hold) => hold.lease(),
        }
    }
}
