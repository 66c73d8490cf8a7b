//! The lock, as Redis gave it to one waiter of this process.

use std::sync::Arc;

use crate::error::Error;
use crate::hook::Hook;
use crate::lease::Lease;
use crate::shared::Shared;
use crate::waiters::Grant;

/// A granted lock. If it is dropped without a release, the next waiter gets it.
pub(crate) struct Hold {
    shared: Arc<Shared>,
    pub(crate) lease: Arc<Lease>,
    /// The first fence that is reserved for this holder.
    pub(crate) fence: u64,
    is_released: bool,
}

impl Hold {
    pub(crate) fn new(shared: Arc<Shared>, Grant { lease, fence }: Grant) -> Self {
        Self {
            shared,
            lease,
            fence,
            is_released: false,
        }
    }

    /// Passes the lock on in this process, or releases it in Redis. Whether it was still held.
    pub(crate) async fn release(mut self, hook: Option<&dyn Hook>) -> Result<bool, Error> {
        let was_owner =
            self.shared.pass_on(&self.lease) || self.shared.release(&self.lease.name, &self.lease.owner, hook).await?;
        self.is_released = true;
        Ok(was_owner)
    }
}

impl Drop for Hold {
    fn drop(&mut self) {
        if !self.is_released {
            self.shared.pass_on_or_release(&self.lease);
        }
    }
}
