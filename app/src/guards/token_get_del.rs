//! An owner token that the program compares: GET, compare, and then DEL as a second command.
//!
//! ```text
//! A: SET lock a NX PX 1000 -> OK; read 2; write 1, order
//! A: GET lock -> a, mine
//! (the lease ends)
//!                     B: SET lock b NX PX 1000 -> OK
//! A: DEL lock                                             -- B's lock
//!                     C: SET lock c NX PX 1000 -> OK      -- B and C are inside
//! ```
//!
//! A crash costs one lease. Between GET and DEL the lock may change hands, and DEL deletes any lock that it finds.
//! Source: tutorials 001 and 004, with the shop's lease in place of their seconds; 002 releases so, too. 001 and 004
//! answer a taken lock at once; here a purchase waits. Cost: three round trips, and one for each attempt while waiting.

use std::sync::Arc;

use async_trait::async_trait;
use redis::cmd;
use uuid::Uuid;

use super::lock_key::lock_key;
use super::redis_lock::taken_or_held;
use super::{Guard, GuardEntry, Held, Released, opened};
use crate::domain::{Error, Name};
use crate::mechanism::{AS_FAMILY, Family, Mechanism};
use crate::probe::{Data, Probe, Role, Step};
use crate::stores::Redis;
use crate::timeouts::{PAUSE, Timeouts};

const SET_NX: Step = Step::command("set-nx", &["SET"]).writes(Data::LOCK).plays(Role::Lock);
const GET: Step = Step::command("get", &["GET"]).reads(Data::LOCK).plays(Role::Verify);
const DEL: Step = Step::command("del", &["DEL"]).writes(Data::LOCK).plays(Role::Release);

pub(super) const ENTRY: GuardEntry = GuardEntry {
    mechanism: Mechanism {
        name: "token-get-del",
        family: Family::LeaseLock,
        lesson: 4,
        summary: "SET NX PX with an owner token; GET, compare in the program, DEL",
        claims: AS_FAMILY,
        weak_at: "del",
        needs: &["redis"],
        source: include_str!("token_get_del.rs"),
    },
    steps: &[SET_NX, PAUSE, GET, DEL],
    reentrant: false,
    open: |world, store| {
        Box::pin(async move {
            opened(TokenGetDel {
                redis: world.redis(store)?,
                timeouts: world.timeouts,
            })
        })
    },
};

struct TokenGetDel {
    redis: Arc<Redis>,
    timeouts: Timeouts,
}

#[async_trait]
impl Guard for TokenGetDel {
    async fn lock(&self, item: &Name, probe: &Probe) -> Result<Option<Box<dyn Held>>, Error> {
        let (key, token) = (lock_key(item), Uuid::new_v4().to_string());
        let lease_ms = self.timeouts.lease.as_millis() as u64;
        let mut set = cmd("SET");
        set.arg(&key).arg(&token).arg("NX").arg("PX").arg(lease_ms);
        let mut backoff = self.timeouts.backoff();
        while backoff.again(item, probe).await {
            let locked: bool = probe.step(&SET_NX, &key, self.redis.send(&set), taken_or_held).await?;
            if locked {
                let redis = self.redis.clone();
                return Ok(Some(Box::new(HeldLock { redis, key, token })));
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
    token: String,
}

#[async_trait]
impl Held for HeldLock {
    async fn release(self: Box<Self>, probe: &Probe) -> Result<Released, Error> {
        let (mut get, mut del) = (cmd("GET"), cmd("DEL"));
        get.arg(&self.key);
        del.arg(&self.key);
        let owner: Option<String> = probe
            .step(&GET, &self.key, self.redis.send(&get), |owner: &Option<String>| {
                let mine = owner.as_ref() == Some(&self.token);
                if mine { "mine" } else { "not mine" }
            })
            .await?;
        if owner.as_ref() != Some(&self.token) {
            return Ok(Released::TooLate);
        }
        let words = |gone: &u64| format!("{gone} deleted");
        let gone = probe.step(&DEL, &self.key, self.redis.send(&del), words).await?;
        Ok(if gone > 0 { Released::InTime } else { Released::TooLate })
    }
}
