//! SETNX, and then EXPIRE: the lock has a lease only after the second command.
//!
//! ```text
//! A: SETNX lock -> 1
//! A: (killed)         -- before PEXPIRE lock 1000
//!                     B: SETNX lock -> 0    -- and again, and again: nobody ever sells again
//! ```
//!
//! A crash between the two commands leaves a lock that never ends. DEL does not check the owner. Source: tutorials 002,
//! 003 and 004, with the shop's lease in place of their ten seconds. 002 compares an owner before it deletes, as
//! `token-get-del` does. 004 tells a buyer busy at once when the lock is taken; here a purchase waits.
//! Cost: three round trips, and one for each attempt while waiting.

use std::sync::Arc;

use async_trait::async_trait;
use redis::cmd;

use super::lock_key::lock_key;
use super::redis_lock::blind_del::{DEL, HeldLock};
use super::redis_lock::taken_or_held;
use super::{Guard, GuardEntry, Held, opened};
use crate::domain::{Error, Name};
use crate::mechanism::{AS_FAMILY, Claims, Family, Mechanism};
use crate::probe::{Data, Probe, Role, Step};
use crate::stores::Redis;
use crate::timeouts::{PAUSE, Timeouts};

const SETNX: Step = Step::command("setnx", &["SETNX"]).writes(Data::LOCK).plays(Role::Lock);
const EXPIRE: Step = Step::command("expire", &["PEXPIRE"]).writes(Data::LOCK);

pub(super) const ENTRY: GuardEntry = GuardEntry {
    mechanism: Mechanism {
        name: "setnx-expire",
        family: Family::LeaseLock,
        lesson: 4,
        summary: "SETNX, then EXPIRE as a second command, and a blind DEL",
        claims: Claims {
            broken_by: &["crashed-holder", "lost-reply"],
            ..AS_FAMILY
        },
        weak_at: "expire",
        needs: &["redis"],
        source: include_str!("setnx_expire.rs"),
    },
    steps: &[SETNX, EXPIRE, PAUSE, DEL],
    reentrant: false,
    open: |world, store| {
        Box::pin(async move {
            opened(SetnxExpire {
                redis: world.redis(store)?,
                timeouts: world.timeouts,
            })
        })
    },
};

struct SetnxExpire {
    redis: Arc<Redis>,
    timeouts: Timeouts,
}

#[async_trait]
impl Guard for SetnxExpire {
    async fn lock(&self, item: &Name, probe: &Probe) -> Result<Option<Box<dyn Held>>, Error> {
        let key = lock_key(item);
        let (mut setnx, mut expire) = (cmd("SETNX"), cmd("PEXPIRE"));
        setnx.arg(&key).arg("locked");
        expire.arg(&key).arg(self.timeouts.lease.as_millis() as u64);
        let mut backoff = self.timeouts.backoff();
        while backoff.again(item, probe).await {
            let locked: bool = probe.step(&SETNX, &key, self.redis.send(&setnx), taken_or_held).await?;
            if locked {
                let words = |set: &bool| if *set { "expiry set" } else { "lock gone" };
                let _: bool = probe.step(&EXPIRE, &key, self.redis.send(&expire), words).await?;
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
