//! A put with a version as a lock, as in Tair: the store refuses a put that names another version than the current one.
//!
//! ```text
//! A: put-lock, version 2 -> put; read 2     -- there was no entry, and it has version 1 now
//!                     B: put-lock, version 2 -> another version
//! (the lease ends)
//!                     B: put-lock, version 2 -> put
//! A: write 1, order; DEL lock                         -- B's lock
//!                     C: put-lock, version 2 -> put   -- B and C are inside
//! ```
//!
//! The version names no owner: it begins anew with each entry. Source: tutorial 000, which names the put and leaves the
//! code to another page. Lease and bare delete are ours, as in `set-px`, and so is the script that stands for the put.
//! `version-cas` compares the version of the stock instead, and needs no lock.
//! Cost: two round trips, and one for each attempt while waiting.

use std::sync::Arc;

use async_trait::async_trait;
use redis::Script;

use super::lock_key::lock_key;
use super::redis_lock::blind_del::{DEL, HeldLock};
use super::{Guard, GuardEntry, Held, opened};
use crate::domain::{Error, Name};
use crate::mechanism::{AS_FAMILY, Family, Mechanism};
use crate::probe::{Data, Probe, Role, Step, StepResult, StepValue};
use crate::stores::Redis;
use crate::timeouts::{PAUSE, Timeouts};

/// A version that the entry never has: each put of it that finds an entry is refused.
const NEVER_CURRENT: u64 = 2;

const PUT: Step = Step::command("put-lock", &["EVALSHA"])
    .writes(Data::LOCK)
    .plays(Role::Lock);

pub(super) const ENTRY: GuardEntry = GuardEntry {
    mechanism: Mechanism {
        name: "version-lock",
        family: Family::LeaseLock,
        lesson: 4,
        summary: "a put that succeeds only where no entry is, by its version; a blind DEL",
        claims: AS_FAMILY,
        weak_at: "write",
        needs: &["redis"],
        source: include_str!("version_lock.rs"),
    },
    steps: &[PUT, PAUSE, DEL],
    reentrant: false,
    open: |world, store| {
        Box::pin(async move {
            opened(VersionLock {
                redis: world.redis(store)?,
                put: Script::new(include_str!("version_lock.lua")),
                timeouts: world.timeouts,
            })
        })
    },
};

struct VersionLock {
    redis: Arc<Redis>,
    put: Script,
    timeouts: Timeouts,
}

#[async_trait]
impl Guard for VersionLock {
    async fn lock(&self, item: &Name, probe: &Probe) -> Result<Option<Box<dyn Held>>, Error> {
        let key = lock_key(item);
        let mut put = self.put.key(&key);
        put.arg("locked")
            .arg(NEVER_CURRENT)
            .arg(self.timeouts.lease.as_millis() as u64);
        let mut backoff = self.timeouts.backoff();
        while backoff.again(item, probe).await {
            let word: String = probe.step(&PUT, &key, self.redis.run(&put), taken).await?;
            if word == "put" {
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

/// Describes the word of the script.
fn taken(word: &String) -> StepResult {
    StepValue::Taken(word == "put").with(word)
}
