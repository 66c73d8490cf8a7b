//! What is done to a shop in the middle of an attack.

use anyhow::Result;
use async_trait::async_trait;

use super::AttackControl;
use crate::audit::ExplainedUnknowns;
use crate::sale::Load;

/// A deed of the first wave. Every buyer's first purchase is the first wave; the second begins when the deed is done and
/// its damage is healed, so that neither misses the other.
#[async_trait]
pub trait Injection: Send + Sync {
    /// The purchases of the first wave that are sent as the deed says, by their places in the order of sending: from 0,
    /// and less than the number of buyers. Each waits for [`AttackControl::send`].
    fn places(&self, _load: &Load) -> Vec<usize> {
        Vec::new()
    }

    /// What it explains of purchases that were sent before its damage was healed.
    fn explains(&self) -> ExplainedUnknowns;

    /// Does the deed, and says whether it struck: seen, not believed. No other buyer sends anything before
    /// [`AttackControl::begin`].
    ///
    /// # Errors
    /// When it cannot be done: the run ends.
    async fn act(&self, control: &AttackControl<'_>) -> Result<bool>;
}
