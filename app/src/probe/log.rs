//! The log as an observer: with `OVERSELL_LOG=trace` every step of every purchase is a line.

use async_trait::async_trait;
use tracing::Level;

use super::{Actor, Observer, Passing};

/// Writes each step down, once before and once after it.
pub struct Log;

#[async_trait]
impl Observer for Log {
    fn observes(&self, _actor: &Actor) -> bool {
        tracing::enabled!(target: "oversell::probe", Level::TRACE)
    }

    async fn before(&self, passing: &Passing<'_>) {
        tracing::trace!(target: "oversell::probe", "{passing}");
    }

    async fn after(&self, passing: &Passing<'_>, said: &str) {
        tracing::trace!(target: "oversell::probe", "{passing}: {said}");
    }
}
