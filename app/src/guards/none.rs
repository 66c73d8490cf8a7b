//! No lock at all: read, check and write are separate steps.
//!
//! ```text
//! A: read 1
//!                     B: read 1
//! A: write 0, order
//!                     B: write 0, order    -- the same unit, sold twice; the counter never shows it
//! ```
//!
//! Cost: no round trip.

use async_trait::async_trait;

use super::{Guard, GuardEntry, Held, Released, opened};
use crate::domain::{Error, Name};
use crate::mechanism::{AS_FAMILY, Family, Mechanism};
use crate::probe::Probe;

pub(super) const ENTRY: GuardEntry = GuardEntry {
    mechanism: Mechanism {
        name: "none",
        family: Family::NoLock,
        lesson: 1,
        summary: "read, check and write, without a lock",
        claims: AS_FAMILY,
        weak_at: "write",
        needs: &[],
        source: include_str!("none.rs"),
    },
    steps: &[],
    reentrant: true,
    open: |_, _| Box::pin(async { opened(Nothing) }),
};

struct Nothing;

#[async_trait]
impl Guard for Nothing {
    async fn lock(&self, _item: &Name, _probe: &Probe) -> Result<Option<Box<dyn Held>>, Error> {
        Ok(Some(Box::new(Self)))
    }
}

#[async_trait]
impl Held for Nothing {
    async fn release(self: Box<Self>, _probe: &Probe) -> Result<Released, Error> {
        Ok(Released::InTime)
    }
}
