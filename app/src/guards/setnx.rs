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
use redis::cmd;

use super::{Guard, Held, PAUSE, Released, Timeouts, lock_key, taken_or_held};
use crate::probe::{Probe, Role, Step};
use crate::sale::{Error, Family, Mechanism, Name, Threat};
use crate::stores::Redis;

const SETNX: Step = Step::command("setnx", &["SETNX"]).plays(Role::Lock);
const DEL: Step = Step::command("del", &["DEL"]).plays(Role::Release);

pub(super) struct Setnx {
    redis: Arc<Redis>,
    timeouts: Timeouts,
}

impl Setnx {
    pub(super) fn new(redis: &Arc<Redis>, timeouts: Timeouts) -> Self {
        Self {
            redis: redis.clone(),
            timeouts,
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

    fn steps(&self) -> &'static [Step] {
        &[SETNX, PAUSE, DEL]
    }

    async fn lock(&self, item: &Name, probe: &Probe) -> Result<Option<Box<dyn Held>>, Error> {
        let key = lock_key(item);
        let mut setnx = cmd("SETNX");
        setnx.arg(&key).arg("locked");
        let mut backoff = self.timeouts.backoff();
        while backoff.again(item, probe).await {
            let locked: bool = probe.step(&SETNX, &key, self.redis.send(&setnx), taken_or_held).await?;
            if locked {
                let redis = self.redis.clone();
                return Ok(Some(Box::new(HeldLock { redis, key })));
            }
        }
        Ok(None)
    }

    async fn forget(&self, item: &Name) -> Result<(), Error> {
        self.redis.forget(&[lock_key(item)]).await
    }
}

struct HeldLock {
    redis: Arc<Redis>,
    key: String,
}

#[async_trait]
impl Held for HeldLock {
    async fn release(self: Box<Self>, probe: &Probe) -> Result<Released, Error> {
        let _: u64 = probe
            .step(&DEL, &self.key, self.redis.send(cmd("DEL").arg(&self.key)), |gone| {
                format!("{gone} deleted")
            })
            .await?;
        Ok(Released::InTime)
    }
}
