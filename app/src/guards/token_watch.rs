//! An owner token, released under WATCH: Redis deletes the lock only if no client wrote to it since the check.
//!
//! ```text
//! A: SET lock a NX PX 1000 -> OK; read 1; write 0, order
//! A: WATCH lock, GET -> a, mine
//! (the lease ends)
//!                     B: SET lock b NX PX 1000 -> OK
//! A: MULTI, DEL lock, EXEC -> nil; WATCH lock, GET -> b, not mine; UNWATCH    -- B keeps its lock
//! ```
//!
//! A waiter tries again without a pause, and sets a lease on a lock that has none. A holder that outlives its lease is
//! not protected. WATCH needs a dedicated connection. Source: tutorial 003, with the shop's lease and wait in place of
//! its ten seconds. Its EXPIRE gets a C++ object for `%s`, which is undefined; here it gets the name. Its benchmark
//! does not ask whether it got the lock and buys without; here such a buyer is told busy. Cost: three round trips, and
//! two for each attempt while waiting.

use std::sync::Arc;

use async_trait::async_trait;
use redis::{cmd, pipe};
use tokio::task::yield_now;
use tokio::time::Instant;
use uuid::Uuid;

use super::lock_key::lock_key;
use super::redis_lock::retry::YIELD;
use super::redis_lock::taken_or_held;
use super::{Guard, GuardEntry, Held, Released, opened};
use crate::domain::{Error, Name};
use crate::mechanism::{AS_FAMILY, Family, Mechanism};
use crate::probe::{Data, Probe, Role, Step};
use crate::stores::Redis;
use crate::timeouts::Timeouts;

const SET_NX: Step = Step::command("set-nx", &["SET"]).writes(Data::LOCK).plays(Role::Lock);
const TTL: Step = Step::command("ttl", &["TTL"]).reads(Data::LOCK);
const EXPIRE: Step = Step::command("expire", &["PEXPIRE"]).writes(Data::LOCK);
const CONNECT: Step = Step::local("connect");
const WATCH: Step = Step::command("watch", &["UNWATCH", "WATCH", "GET"])
    .reads(Data::LOCK)
    .plays(Role::Verify);
const EXEC: Step = Step::command("exec", &["MULTI", "DEL", "EXEC"])
    .writes(Data::LOCK)
    .plays(Role::Release);
const UNWATCH: Step = Step::command("unwatch", &["UNWATCH"]).reads(Data::NONE);

/// The reply of TTL for a key that never expires.
const NO_LEASE: i64 = -1;

pub(super) const ENTRY: GuardEntry = GuardEntry {
    mechanism: Mechanism {
        name: "token-watch",
        family: Family::LeaseLock,
        lesson: 4,
        summary: "SET NX PX with an owner token, released by WATCH/GET/MULTI/DEL/EXEC",
        claims: AS_FAMILY,
        weak_at: "write",
        needs: &["redis"],
        source: include_str!("token_watch.rs"),
    },
    steps: &[SET_NX, TTL, EXPIRE, YIELD, CONNECT, WATCH, EXEC, UNWATCH],
    reentrant: false,
    open: |world, store| {
        Box::pin(async move {
            opened(TokenWatch {
                redis: world.redis(store)?,
                timeouts: world.timeouts,
            })
        })
    },
};

struct TokenWatch {
    redis: Arc<Redis>,
    timeouts: Timeouts,
}

impl TokenWatch {
    fn lease_ms(&self) -> u64 {
        self.timeouts.lease.as_millis() as u64
    }

    /// Sets a lease on a lock without one, which would stay for ever.
    async fn give_lease(&self, key: &str, probe: &Probe) -> Result<(), Error> {
        let ttl = cmd("TTL").arg(key).to_owned();
        let words = |left_s: &i64| format!("{left_s} s left");
        if probe.step(&TTL, &key, self.redis.send(&ttl), words).await? == NO_LEASE {
            let mut expire = cmd("PEXPIRE");
            expire.arg(key).arg(self.lease_ms());
            let words = |set: &bool| if *set { "expiry set" } else { "lock gone" };
            probe.step(&EXPIRE, &key, self.redis.send(&expire), words).await?;
        }
        Ok(())
    }
}

#[async_trait]
impl Guard for TokenWatch {
    async fn lock(&self, item: &Name, probe: &Probe) -> Result<Option<Box<dyn Held>>, Error> {
        let (key, token) = (lock_key(item), Uuid::new_v4().to_string());
        let mut set = cmd("SET");
        set.arg(&key).arg(&token).arg("NX").arg("PX").arg(self.lease_ms());
        let deadline = Instant::now() + self.timeouts.wait;
        loop {
            let locked: bool = probe.step(&SET_NX, &key, self.redis.send(&set), taken_or_held).await?;
            if locked {
                let redis = self.redis.clone();
                return Ok(Some(Box::new(HeldLock { redis, key, token })));
            }
            if Instant::now() >= deadline {
                return Ok(None);
            }
            self.give_lease(&key, probe).await?;
            probe.local(&YIELD, item, yield_now(), |()| "again").await;
        }
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
        let mut own = probe
            .step(&CONNECT, &"redis", self.redis.connection(), |own| own.origin().word())
            .await?;
        let (mut watch, mut del, mut unwatch) = (pipe(), pipe(), pipe());
        // The connection may still watch the key of a purchase that was dropped between its WATCH and its EXEC.
        watch.cmd("UNWATCH").ignore();
        watch.cmd("WATCH").arg(&self.key).ignore().get(&self.key);
        del.atomic().del(&self.key);
        unwatch.cmd("UNWATCH").ignore();
        let is_mine = |owner: &Option<String>| owner.as_ref() == Some(&self.token);
        loop {
            let words = |(owner,): &(Option<String>,)| if is_mine(owner) { "mine" } else { "not mine" };
            let (owner,) = probe.step(&WATCH, &self.key, own.send_all(&watch), words).await?;
            if !is_mine(&owner) {
                let () = probe
                    .step(&UNWATCH, &self.key, own.send_all(&unwatch), |()| "unwatched")
                    .await?;
                return Ok(Released::TooLate);
            }
            let deleted: Option<(u64,)> = probe
                .step(&EXEC, &self.key, own.send_all(&del), |deleted| match deleted {
                    Some((gone,)) => format!("{gone} deleted"),
                    None => "nil: touched since".to_owned(),
                })
                .await?;
            if let Some((gone,)) = deleted {
                return Ok(if gone > 0 { Released::InTime } else { Released::TooLate });
            }
        }
    }
}
