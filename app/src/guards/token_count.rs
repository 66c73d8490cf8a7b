//! A request's id as the value, and a count for re-entry: one variable of the whole instance for all of its locks.
//!
//! ```text
//! A: GET item-1 -> nil, SET NX -> OK, count = 1
//! A: GET item-1 -> a, mine: count = 2
//!                     B: GET item-2 -> nil, SET NX -> OK, count = 1    -- another lock, the same count
//! A: leaves once: GET item-1 -> a, count is 1: DEL, count = 0          -- and is still inside
//!                     C: GET item-1 -> nil, SET NX -> OK, count = 1    -- A and C are inside
//! ```
//!
//! GET comes first for a SET whose reply was lost: the next try finds its own id and enters. The release checks the
//! owner in one command, deletes in another, and takes a lock that is gone for released. Source: tutorial 000, its
//! second lock. Its `count++` can lose an increment; here each step on the count is atomic. Its loop never counts its
//! tries; here they are ten, as its comment says. The lease is the shop's, and the id is new for each delivery of a
//! purchase. Cost: four round trips, and one or two for each try while waiting.

use std::sync::Arc;
use std::sync::atomic::{AtomicI64, Ordering};

use async_trait::async_trait;
use redis::cmd;
use uuid::Uuid;

use super::lock_key::lock_key;
use super::redis_lock::retry::{TRIES, TRY_AGAIN_AFTER};
use super::redis_lock::taken_or_held;
use super::{Guard, GuardEntry, Held, Released, opened};
use crate::domain::{Error, Name};
use crate::mechanism::{AS_FAMILY, Claims, Family, Mechanism};
use crate::probe::{Data, Probe, Role, Step};
use crate::stores::Redis;
use crate::timeouts::{PAUSE, Timeouts};
use crate::world::World;

const GET: Step = Step::command("get", &["GET"]).reads(Data::LOCK);
const SET_NX: Step = Step::command("set-nx", &["SET"]).writes(Data::LOCK).plays(Role::Lock);
const GET_OWNER: Step = Step::command("get-owner", &["GET"])
    .reads(Data::LOCK)
    .plays(Role::Verify);
const DEL: Step = Step::command("del", &["DEL"]).writes(Data::LOCK).plays(Role::Release);

pub(super) const ENTRY: GuardEntry = GuardEntry {
    mechanism: Mechanism {
        name: "token-count",
        family: Family::LeaseLock,
        lesson: 4,
        summary: "request id as the value, one re-entry count for all locks, release in several commands",
        claims: Claims {
            gives_up: true,
            ..AS_FAMILY
        },
        weak_at: "del",
        needs: &["redis"],
        source: include_str!("token_count.rs"),
    },
    steps: &[GET, SET_NX, GET_OWNER, PAUSE, DEL],
    reentrant: true,
    open: |world, store| Box::pin(async move { opened(TokenCount::open(world, store)?) }),
};

struct TokenCount {
    /// The prefix of the request ids: two instances, or one before and after a crash, never share one.
    client: Uuid,
    locks: Arc<Locks>,
    timeouts: Timeouts,
}

struct Locks {
    redis: Arc<Redis>,
    /// How often a lock is entered. All locks share this count.
    count: AtomicI64,
}

impl TokenCount {
    fn open(world: &World, store: &'static str) -> Result<Self, Error> {
        Ok(Self {
            client: Uuid::new_v4(),
            locks: Arc::new(Locks {
                redis: world.redis(store)?,
                count: AtomicI64::new(0),
            }),
            timeouts: world.timeouts,
        })
    }

    async fn attempt(&self, key: &str, request: &str, probe: &Probe) -> Result<bool, Error> {
        let Locks { redis, count } = &*self.locks;
        let owner = self.locks.owner(&GET, key, probe).await?;
        if owner.as_deref() == Some(request) {
            count.fetch_add(1, Ordering::SeqCst);
            return Ok(true);
        }
        if owner.is_some() && count.load(Ordering::SeqCst) > 0 {
            return Ok(false);
        }
        let lease_ms = self.timeouts.lease.as_millis() as u64;
        let mut set = cmd("SET");
        set.arg(key).arg(request).arg("NX").arg("PX").arg(lease_ms);
        let locked: Result<bool, Error> = probe.step(&SET_NX, &key, redis.send(&set), taken_or_held).await;
        // To the program a SET without a reply has failed like any other. The GET of the next try knows better.
        let locked = locked.unwrap_or(false);
        if locked {
            count.store(1, Ordering::SeqCst);
        }
        Ok(locked)
    }
}

impl Locks {
    async fn owner(&self, step: &Step, key: &str, probe: &Probe) -> Result<Option<String>, Error> {
        let get = cmd("GET").arg(key).to_owned();
        let words = |owner: &Option<String>| owner.clone().unwrap_or_else(|| "nil".to_owned());
        probe.step(step, &key, self.redis.send(&get), words).await
    }
}

#[async_trait]
impl Guard for TokenCount {
    async fn lock(&self, item: &Name, probe: &Probe) -> Result<Option<Box<dyn Held>>, Error> {
        let key = lock_key(item);
        let request = format!("{}:{}", self.client, probe.actor().number());
        for again in 0..TRIES {
            if again > 0 {
                probe.pause(&PAUSE, item, TRY_AGAIN_AFTER).await;
            }
            if self.attempt(&key, &request, probe).await? {
                let locks = self.locks.clone();
                return Ok(Some(Box::new(HeldLock { locks, key, request })));
            }
        }
        Ok(None)
    }

    async fn forget(&self, item: &Name) -> Result<(), Error> {
        self.locks.redis.forget(&[lock_key(item)]).await
    }
}

struct HeldLock {
    locks: Arc<Locks>,
    key: String,
    request: String,
}

#[async_trait]
impl Held for HeldLock {
    async fn release(self: Box<Self>, probe: &Probe) -> Result<Released, Error> {
        let Locks { redis, count } = &*self.locks;
        let owner = self.locks.owner(&GET_OWNER, &self.key, probe).await?;
        if owner.is_none() {
            count.store(0, Ordering::SeqCst);
            return Ok(Released::InTime);
        }
        if owner.as_ref() != Some(&self.request) {
            return Ok(Released::TooLate);
        }
        if count.load(Ordering::SeqCst) > 1 {
            count.fetch_sub(1, Ordering::SeqCst);
            return Ok(Released::InTime);
        }
        let del = cmd("DEL").arg(&self.key).to_owned();
        let words = |gone: &u64| format!("{gone} deleted");
        let gone: u64 = probe.step(&DEL, &self.key, redis.send(&del), words).await?;
        if gone == 0 {
            return Ok(Released::TooLate);
        }
        count.store(0, Ordering::SeqCst);
        Ok(Released::InTime)
    }
}
