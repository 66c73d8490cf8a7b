//! No lock at all: read, check, write, each in its own time.
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

use super::{Guard, Held, Released};
use crate::probe::{Probe, Step};
use crate::sale::{Error, Family, Mechanism, Name};

pub(super) struct Nothing;

#[async_trait]
impl Guard for Nothing {
    fn about(&self) -> Mechanism {
        Mechanism {
            name: "none",
            family: Family::NoLock,
            summary: "read, check, write, with nothing around them",
            claims: &[],
        }
    }

    fn steps(&self) -> &'static [Step] {
        &[]
    }

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
