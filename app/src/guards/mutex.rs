//! A mutex in the memory of one process.
//!
//! ```text
//! instance 1                 instance 2
//! A: lock its mutex
//!                            B: lock its own mutex    -- another mutex: nobody waits
//! A: read 1
//!                            B: read 1
//! A: write 0, order
//!                            B: write 0, order        -- oversold
//! ```
//!
//! Exact on one instance. Cost: no round trip.

use std::hash::{BuildHasher, RandomState};
use std::sync::Arc;

use async_trait::async_trait;
use tokio::sync::OwnedMutexGuard;
use tokio::time::timeout;

use super::{Guard, Held, Patience, Released};
use crate::probe::{Probe, Step};
use crate::sale::{Error, Family, Mechanism, Name, Threat};

/// Items share this many mutexes, so that memory does not grow with every name that was ever asked for.
const STRIPES: usize = 256;

pub(super) struct Mutex {
    stripes: Vec<Arc<tokio::sync::Mutex<()>>>,
    hasher: RandomState,
    patience: Patience,
}

impl Mutex {
    pub(super) fn new(patience: Patience) -> Self {
        Self {
            stripes: (0..STRIPES).map(|_| Arc::default()).collect(),
            hasher: RandomState::new(),
            patience,
        }
    }
}

#[async_trait]
impl Guard for Mutex {
    fn about(&self) -> Mechanism {
        Mechanism {
            name: "mutex",
            family: Family::ProcessLock,
            summary: "a mutex in the memory of each instance",
            claims: &[Threat::Crowd],
        }
    }

    async fn lock(&self, item: &Name, probe: &Probe) -> Result<Option<Box<dyn Held>>, Error> {
        probe.at(Step::Lock).await;
        let stripe = self.hasher.hash_one(item) as usize % STRIPES;
        let turn = timeout(self.patience.wait, self.stripes[stripe].clone().lock_owned()).await;
        Ok(turn.ok().map(|turn| Box::new(Turn(turn)) as Box<dyn Held>))
    }
}

struct Turn(OwnedMutexGuard<()>);

#[async_trait]
impl Held for Turn {
    async fn release(self: Box<Self>, probe: &Probe) -> Result<Released, Error> {
        probe.at(Step::Release).await;
        drop(self.0);
        Ok(Released::InTime)
    }
}
