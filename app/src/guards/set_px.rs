//! SET NX PX with one fixed value for all, ten tries with a fixed pause, and a blind DEL.
//!
//! ```text
//! A: SET lock locked NX PX 1000 -> OK; read 2
//! (the lease ends)
//!                     B: SET lock locked NX PX 1000 -> OK
//! A: write 1, order; DEL lock                              -- B's lock
//!                     C: SET lock locked NX PX 1000 -> OK  -- B and C are inside
//! ```
//!
//! A crash costs one lease. But the value names no owner: a holder that outlives its lease deletes the lock of the next
//! one. A SET whose reply is lost counts as a failed try: all further ones fail too, at the buyer's own lock. Source:
//! tutorial 000, its first lock, whose loop never counts its tries: here they are ten, as its comment says. It stands
//! also for tutorial 004's lock with an expiry and a bare delete, which is tried once. The lease is the shop's. Cost:
//! two round trips, and one for each try while waiting.

use std::sync::Arc;

use async_trait::async_trait;
use redis::cmd;

use super::lock_key::lock_key;
use super::redis_lock::blind_del::{DEL, HeldLock};
use super::redis_lock::retry::{TRIES, TRY_AGAIN_AFTER};
use super::redis_lock::taken_or_held;
use super::{Guard, GuardEntry, Held, opened};
use crate::domain::{Error, Name};
use crate::mechanism::{AS_FAMILY, Claims, Family, Mechanism};
use crate::probe::{Data, Probe, Role, Step};
use crate::stores::Redis;
use crate::timeouts::{PAUSE, Timeouts};

const SET_NX: Step = Step::command("set-nx", &["SET"]).writes(Data::LOCK).plays(Role::Lock);

pub(super) const ENTRY: GuardEntry = GuardEntry {
    mechanism: Mechanism {
        name: "set-px",
        family: Family::LeaseLock,
        lesson: 4,
        summary: "SET NX PX with a fixed value, ten tries, and a blind DEL",
        claims: Claims {
            gives_up: true,
            ..AS_FAMILY
        },
        weak_at: "write",
        needs: &["redis"],
        source: include_str!("set_px.rs"),
    },
    steps: &[SET_NX, PAUSE, DEL],
    reentrant: false,
    open: |world, store| {
        Box::pin(async move {
            opened(SetPx {
                redis: world.redis(store)?,
                timeouts: world.timeouts,
            })
        })
    },
};

struct SetPx {
    redis: Arc<Redis>,
    timeouts: Timeouts,
}

#[async_trait]
impl Guard for SetPx {
    async fn lock(&self, item: &Name, probe: &Probe) -> Result<Option<Box<dyn Held>>, Error> {
        let key = lock_key(item);
        let lease_ms = self.timeouts.lease.as_millis() as u64;
        let mut set = cmd("SET");
        set.arg(&key).arg("locked").arg("NX").arg("PX").arg(lease_ms);
        for again in 0..TRIES {
            if again > 0 {
                probe.pause(&PAUSE, item, TRY_AGAIN_AFTER).await;
            }
            let locked: Result<bool, Error> = probe.step(&SET_NX, &key, self.redis.send(&set), taken_or_held).await;
            // To the program a SET without a reply has failed like any other.
            if locked.unwrap_or(false) {
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
