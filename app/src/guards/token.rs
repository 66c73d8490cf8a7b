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
use redis::{Script, cmd};
use uuid::Uuid;

use super::{Guard, GuardEntry, Held, Released, lock_key, opened, taken_or_held};
use crate::mechanism::{AS_FAMILY, Family, Mechanism};
use crate::probe::{Probe, Role, Step};
use crate::sale::{Error, Name};
use crate::stores::Redis;
use crate::timeouts::{PAUSE, Timeouts};
use crate::world::World;

/// Deletes the lock only while it still holds our token; a bare DEL would end somebody else's lock.
pub(super) const RELEASE: &str = r"
if redis.call('get', KEYS[1]) == ARGV[1] then
    return redis.call('del', KEYS[1])
end
return 0
";

pub(super) const SET_NX: Step = Step::command("set-nx", &["SET"]).plays(Role::Lock);
pub(super) const COMPARE_DEL: Step = Step::command("compare-del", &["EVALSHA"]).plays(Role::Release);

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
    open: |world| Box::pin(async { opened(Token::open(world)?) }),
};

pub(super) struct Token {
    redis: Arc<Redis>,
    release: Arc<Script>,
    timeouts: Timeouts,
}

impl Token {
    pub(super) fn open(world: &World) -> Result<Self, Error> {
        Ok(Self {
            redis: world.store()?,
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

pub(super) struct HeldLock {
    pub(super) redis: Arc<Redis>,
    pub(super) release: Arc<Script>,
    pub(super) key: String,
    pub(super) token: String,
}

#[async_trait]
impl Held for HeldLock {
    async fn release(self: Box<Self>, probe: &Probe) -> Result<Released, Error> {
        let mut release = self.release.key(&self.key);
        release.arg(&self.token);
        let deleted: bool = probe
            .step(&COMPARE_DEL, &self.key, self.redis.run(&release), |deleted| {
                if *deleted { "deleted" } else { "token gone" }
            })
            .await?;
        Ok(if deleted { Released::InTime } else { Released::TooLate })
    }
}
