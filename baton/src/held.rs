//! A lock that is held.

use std::sync::Arc;

use crate::around::Around;
use crate::baton::Shared;
use crate::error::Error;
use crate::lease::Lease;
use crate::local_queue::Turn;

/// The lock, and the right to say who has it next.
pub(crate) struct Hold {
    shared: Arc<Shared>,
    pub(crate) lease: Arc<Lease>,
    /// The first of those that were reserved for it.
    pub(crate) fence: u64,
    is_released: bool,
}

impl Hold {
    pub(crate) fn new(shared: Arc<Shared>, lease: Arc<Lease>, fence: u64) -> Self {
        Self {
            shared,
            lease,
            fence,
            is_released: false,
        }
    }

    /// Whether it was ours until now.
    pub(crate) async fn release(mut self, around: Option<&dyn Around>) -> Result<bool, Error> {
        let was_owner = self.shared.pass_on(&self.lease)
            || self.shared.release(&self.lease.name, &self.lease.owner, around).await?;
        self.is_released = true;
        Ok(was_owner)
    }
}

impl Drop for Hold {
    fn drop(&mut self) {
        if !self.is_released && !self.shared.pass_on(&self.lease) {
            self.shared
                .release_unseen(self.lease.name.clone(), self.lease.owner.clone());
        }
    }
}

/// What the end of a held lock looked like.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Released {
    /// The lock was ours until now.
    InTime,
    /// The lease had ended before: somebody else may have been inside at the same time.
    TooLate,
}

/// A lock that is held. Dropped without [`Held::release`] it is given back all the same, without waiting.
pub struct Held(Way);

/// How it was had.
enum Way {
    Alone(Hold),
    PassedOn(Turn),
}

impl Held {
    pub(crate) fn alone(hold: Hold) -> Self {
        Self(Way::Alone(hold))
    }

    pub(crate) fn passed_on(turn: Turn) -> Self {
        Self(Way::PassedOn(turn))
    }

    /// A number that is higher than that of every holder before. What is written to has to refuse a lower one than it has seen.
    pub fn fence(&self) -> u64 {
        match &self.0 {
            Way::Alone(hold) => hold.fence,
            Way::PassedOn(turn) => turn.fence(),
        }
    }

    /// Whether the lock is known to be lost: it was not renewed in time, by the clock of this process. What says no may be wrong
    /// a moment later.
    pub fn is_lost(&self) -> bool {
        self.lease().is_lost()
    }

    /// Comes back when the lock is lost.
    pub async fn lost(&self) {
        self.lease().lost().await;
    }

    /// Gives the lock to the next waiter.
    ///
    /// # Errors
    /// When Redis does not answer. It is then told a few times more, without anybody waiting for it; where it does not hear that
    /// either, the lock stays until its lease ends.
    pub async fn release(self) -> Result<Released, Error> {
        self.release_within(None).await
    }

    /// The same, with `around` around it.
    ///
    /// # Errors
    /// When Redis does not answer.
    pub async fn release_around(self, around: &dyn Around) -> Result<Released, Error> {
        self.release_within(Some(around)).await
    }

    async fn release_within(self, around: Option<&dyn Around>) -> Result<Released, Error> {
        let was_held = !self.is_lost();
        let was_owner = match self.0 {
            Way::Alone(hold) => hold.release(around).await?,
            Way::PassedOn(turn) => turn.release(around).await?,
        };
        Ok(if was_held && was_owner {
            Released::InTime
        } else {
            Released::TooLate
        })
    }

    fn lease(&self) -> &Lease {
        match &self.0 {
            Way::Alone(hold) => &hold.lease,
            Way::PassedOn(turn) => turn.lease(),
        }
    }
}
