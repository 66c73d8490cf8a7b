//! What is done to a shop in the middle of an attack, as data.

use std::fmt;

use anyhow::Result;
use futures_util::future::BoxFuture;

use super::AttackControl;
use crate::audit::ExplainedUnknowns;
use crate::sale::Load;

/// A fault of the first wave. Every buyer's first purchase is the first wave; the second begins when the fault is over and
/// its damage is healed, so that neither misses the other.
pub struct Injection {
    /// The purchases of the first wave that the injection sends itself, by their places in the order of sending: from 0,
    /// and less than the number of buyers. Each waits for [`AttackControl::send`].
    pub places: fn(&Load) -> Vec<usize>,
    /// Which purchases without an answer the fault explains, of those that were sent before its damage was healed.
    pub explains: ExplainedUnknowns,
    /// Injects the fault, and says whether it struck: seen, not believed. No other buyer sends anything before
    /// [`AttackControl::begin`]. An error ends the run: the fault could not be injected.
    pub run: for<'a> fn(&'a AttackControl<'a>) -> BoxFuture<'a, Result<bool>>,
}

impl Injection {
    /// An injection that sends no purchase of its own and explains no missing answer: where a threat differs, it says so.
    pub const fn new(run: for<'a> fn(&'a AttackControl<'a>) -> BoxFuture<'a, Result<bool>>) -> Self {
        Self {
            places: |_| Vec::new(),
            explains: ExplainedUnknowns::Nothing,
            run,
        }
    }
}

impl fmt::Debug for Injection {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Injection")
            .field("explains", &self.explains)
            .finish_non_exhaustive()
    }
}
