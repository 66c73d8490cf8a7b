//! The naive Redis lock: SETNX to take it, DEL to give it back. No owner, no expiry.
//!
//! ```text
//! A: SETNX lock -> 1
//! A: (killed)
//!                     B: SETNX lock -> 0, and again, and again    -- nobody ever sells again
//! ```
//!
//! And DEL asks nobody whose lock it is: whoever comes to it by mistake opens the door for a second holder.
//! Cost: two round trips, and one for each attempt while waiting.

use std::sync::Arc;

use async_trait::async_trait;
use redis::AsyncCommands;

use super::{Guard, Held, Patience, Released};
use crate::probe::{Probe, Step};
use crate::sale::{Error, Family, Mechanism, Name, Threat};
use crate::stores::{Redis, lock_key};

pub(super) struct Setnx {
    redis: Arc<Redis>,
    patience: Patience,
}

impl Setnx {
    pub(super) fn new(redis: &Arc<Redis>, patience: Patience) -> Self {
        Self {
            redis: redis.clone(),
            patience,
        }
    }
}

#[async_trait]
impl Guard for Setnx {
    fn about(&self) -> Mechanism {
        Mechanism {
            name: "setnx",
            family: Family::RedisLock,
            summary: "SETNX and a blind DEL: no owner, no expiry",
            claims: &[Threat::Crowd, Threat::SecondInstance],
        }
    }

    async fn lock(&self, item: &Name, probe: &Probe) -> Result<Option<Box<dyn Held>>, Error> {
        let key = lock_key(item);
        let mut redis = self.redis.shared();
        let mut tries = self.patience.tries();
        while tries.again().await {
            probe.at(Step::Lock).await;
            if redis.set_nx(&key, "locked").await? {
                let redis = self.redis.clone();
                return Ok(Some(Box::new(Turn { redis, key })));
            }
        }
        Ok(None)
    }
}

struct Turn {
    redis: Arc<Redis>,
    key: String,
}

#[async_trait]
impl Held for Turn {
    async fn release(self: Box<Self>, probe: &Probe) -> Result<Released, Error> {
        probe.at(Step::Release).await;
        let _: u64 = self.redis.shared().del(&self.key).await?;
        Ok(Released::InTime)
    }
}
