//! The owner-token lock: SET NX PX with a value that only its owner knows, released by compare-and-delete.
//!
//! ```text
//! A: SET lock a NX PX 1000 -> OK
//! A: (killed)
//!                     B: SET lock b NX PX 1000 -> nil
//! (the lease ends)
//!                     B: SET lock b NX PX 1000 -> OK
//! ```
//!
//! A crash costs one lease. The lock does not survive a holder that outlives its lease: it then has a second owner
//! while the first still writes. Source: the documentation of SET in Redis; the tutorials compare and delete in two
//! commands (`token-get-del`). Cost: two round trips, and one for each attempt while waiting.

use std::sync::Arc;

use async_trait::async_trait;
use redis::{Script, cmd};
use uuid::Uuid;

use super::lock_key::lock_key;
use super::redis_lock::owner_token::{COMPARE_DEL, HeldLock, RELEASE, SET_NX};
use super::redis_lock::taken_or_held;
use super::{Guard, GuardEntry, Held, opened};
use crate::domain::{Error, Name};
use crate::mechanism::{AS_FAMILY, Family, Mechanism};
use crate::probe::Probe;
use crate::stores::Redis;
use crate::timeouts::{PAUSE, Timeouts};
use crate::world::World;

pub(super) const ENTRY: GuardEntry = GuardEntry {
    mechanism: Mechanism {
        name: "token",
        family: Family::LeaseLock,
        lesson: 4,
        summary: "SET NX PX with an owner token, compare-and-delete in Lua",
        claims: AS_FAMILY,
        weak_at: "write",
        needs: &["redis"],
        source: include_str!("token.rs"),
    },
    steps: &[SET_NX, PAUSE, COMPARE_DEL],
    reentrant: false,
    open: |world, store| Box::pin(async move { opened(Token::open(world, store)?) }),
};

pub(super) struct Token {
    redis: Arc<Redis>,
    release: Arc<Script>,
    timeouts: Timeouts,
}

impl Token {
    pub(super) fn open(world: &World, store: &'static str) -> Result<Self, Error> {
        Ok(Self {
            redis: world.redis(store)?,
            release: Arc::new(Script::new(RELEASE)),
            timeouts: world.timeouts,
        })
    }
}

#[async_trait]
impl Guard for Token {
    async fn lock(&self, item: &Name, probe: &Probe) -> Result<Option<Box<dyn Held>>, Error> {
        let key = lock_key(item);
        let token = Uuid::new_v4().to_string();
        let lease_ms = self.timeouts.lease.as_millis() as u64;
        let mut set = cmd("SET");
        set.arg(&key).arg(&token).arg("NX").arg("PX").arg(lease_ms);
        let mut backoff = self.timeouts.backoff();
        while backoff.again(item, probe).await {
            let locked: bool = probe.step(&SET_NX, &key, self.redis.send(&set), taken_or_held).await?;
            if locked {
                let (redis, release) = (self.redis.clone(), self.release.clone());
                return Ok(Some(Box::new(HeldLock {
                    redis,
                    release,
                    key,
                    token,
                })));
            }
        }
        Ok(None)
    }

    async fn forget(&self, item: &Name) -> Result<(), Error> {
        self.redis.forget(&[lock_key(item)]).await
    }
}
