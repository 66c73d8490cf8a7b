//! The owner-token lock: SET NX PX with a value only its owner knows, released by compare-and-delete.
//!
//! ```text
//! A: SET lock a NX PX 1000 -> OK
//! A: (killed)
//!                     B: SET lock b NX PX 1000 -> nil ... the lease ends ... -> OK
//! ```
//!
//! A crash costs one lease. What it does not survive is a holder that outlives its lease: the lock then has a second
//! owner while the first still writes. Cost: two round trips, and one for each attempt while waiting.

use std::sync::Arc;

use async_trait::async_trait;
use redis::{Cmd, Script};
use uuid::Uuid;

use super::{Guard, Held, Patience, Released};
use crate::probe::{Probe, Step};
use crate::sale::{Error, Family, Mechanism, Name, Threat};
use crate::stores::{Redis, lock_key};

/// Deletes the lock only while it still holds our token; a bare DEL would end somebody else's turn.
const RELEASE: &str = r"
if redis.call('get', KEYS[1]) == ARGV[1] then
    return redis.call('del', KEYS[1])
end
return 0
";

pub(super) struct Token {
    redis: Arc<Redis>,
    release: Arc<Script>,
    patience: Patience,
}

impl Token {
    pub(super) fn new(redis: &Arc<Redis>, patience: Patience) -> Self {
        Self {
            redis: redis.clone(),
            release: Arc::new(Script::new(RELEASE)),
            patience,
        }
    }
}

#[async_trait]
impl Guard for Token {
    fn about(&self) -> Mechanism {
        Mechanism {
            name: "token",
            family: Family::RedisLock,
            summary: "SET NX PX with an owner token, compare-and-delete in Lua",
            claims: &[Threat::Crowd, Threat::SecondInstance, Threat::CrashedHolder],
        }
    }

    async fn lock(&self, item: &Name, probe: &Probe) -> Result<Option<Box<dyn Held>>, Error> {
        let key = lock_key(item);
        let token = Uuid::new_v4().to_string();
        let mut redis = self.redis.shared();
        let lease_ms = self.patience.lease.as_millis() as u64;
        let mut set = Cmd::new();
        set.arg("SET").arg(&key).arg(&token).arg("NX").arg("PX").arg(lease_ms);
        let mut tries = self.patience.tries();
        while tries.again().await {
            probe.at(Step::Lock).await;
            if set.query_async(&mut redis).await? {
                let (redis, release) = (self.redis.clone(), self.release.clone());
                return Ok(Some(Box::new(Turn {
                    redis,
                    release,
                    key,
                    token,
                })));
            }
        }
        Ok(None)
    }
}

struct Turn {
    redis: Arc<Redis>,
    release: Arc<Script>,
    key: String,
    token: String,
}

#[async_trait]
impl Held for Turn {
    async fn release(self: Box<Self>, probe: &Probe) -> Result<Released, Error> {
        probe.at(Step::Release).await;
        let mut call = self.release.key(&self.key);
        let deleted: u64 = call.arg(&self.token).invoke_async(&mut self.redis.shared()).await?;
        Ok(if deleted == 1 {
            Released::InTime
        } else {
            Released::TooLate
        })
    }
}
