//! The log as an observer: with `OVERSELL_LOG=trace` every step of every purchase is a line.

use async_trait::async_trait;
use tracing::Level;

use super::{Actor, Observer, StepContext, StepResult};

/// Logs each step, once before and once after it.
pub struct Log;

#[async_trait]
impl Observer for Log {
    fn observes(&self, _actor: &Actor) -> bool {
        tracing::enabled!(target: "oversell::probe", Level::TRACE)
    }

    async fn before(&self, context: &StepContext<'_>) {
        tracing::trace!(target: "oversell::probe", "{context}");
    }

    async fn after(&self, context: &StepContext<'_>, result: &StepResult) {
        tracing::trace!(target: "oversell::probe", "{context}: {}", result.words);
    }
}
