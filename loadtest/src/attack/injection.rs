//! A fault in the middle of an attack, as data.

use std::fmt;

use anyhow::Result;
use futures_util::future::BoxFuture;

use super::AttackControl;
use crate::audit::ExplainedUnknowns;
use crate::sale::Load;

/// A fault of the first wave. The first wave is the first purchase of every buyer. The second wave begins when the
/// fault is over and healed, so that each wave meets the shop in a known state.
pub struct Injection {
    /// The purchases of the first wave that the injection sends itself, by their places in the order of sending: from 0,
    /// and less than the number of buyers. Each waits for [`AttackControl::send`].
    pub places: fn(&Load) -> Vec<usize>,
    /// Which purchases without a response the fault explains, of the purchases sent before the shop was healed.
    pub explains: ExplainedUnknowns,
    /// Injects the fault and returns whether it was seen to strike. No other buyer sends anything before
    /// [`AttackControl::release_buyers`]. An error ends the run: the fault could not be injected.
    pub run: for<'a> fn(&'a AttackControl<'a>) -> BoxFuture<'a, Result<bool>>,
}

impl Injection {
    /// An injection that sends no purchase of its own and explains no missing response. A threat names only its
    /// differences.
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
