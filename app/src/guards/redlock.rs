//! Redlock: the owner-token lock on a majority of five independent Redis servers.
//!
//! ```text
//! A: SET lock a NX PX 1000 at 1, 2, 3, 4, 5 -> OK at three or more, within the lease: taken
//!                     B: the same -> OK at two: too few; compare-and-delete at all; retries after a pause
//! (servers 1 and 2 fail)
//! A: compare-and-delete at 1, 2, 3, 4, 5 -> deleted at three
//! ```
//!
//! Any two servers may fail. Two that restart empty, or whose clocks are wrong, do no harm to a holder that has all five.
//! A holder that has only three, since another purchase asked at the same time, loses its majority with one of them. With
//! three servers, a majority is always free for another holder. The algorithm names a time for which the lock is valid,
//! and has its client stop when that is over: so the holder looks at its own clock before the write. A pause, a silence
//! or an outage of the store between that and the write is not noticed. Faults of the store's own Redis do not reach the five.
//! Cost: ten round trips, one after the other.

use std::sync::Arc;
use std::time::Duration;

use async_trait::async_trait;
use redis::{Script, cmd};
use tokio::time::Instant;
use uuid::Uuid;

use super::lock_key::lock_key;
use super::redis_lock::owner_token::RELEASE;
use super::redis_lock::taken_or_held;
use super::{Guard, GuardEntry, Held, Released, opened};
use crate::domain::{Error, Name};
use crate::mechanism::{AS_FAMILY, Claims, Family, Mechanism};
use crate::probe::{Data, Probe, Role, Step};
use crate::stores::{Connect, Redis};
use crate::timeouts::{PAUSE, Timeouts};
use crate::world::World;

/// The name of the service that has the five servers.
const NODES: &str = "redis-nodes";

/// How long a server may take to answer, or a hundredth of a lease if that is longer: a dead one must not use it up.
const ANSWER_WITHIN: Duration = Duration::from_millis(50);

const SET_NX: Step = Step::command("set-nx", &["SET"]).writes(Data::LOCK).plays(Role::Lock);
const COMPARE_DEL: Step = Step::command("compare-del", &["EVALSHA"])
    .writes(Data::LOCK)
    .plays(Role::Release);

pub(super) const ENTRY: GuardEntry = GuardEntry {
    mechanism: Mechanism {
        name: "redlock",
        family: Family::LeaseLock,
        lesson: 6,
        summary: "SET NX PX on a majority of five Redis servers",
        claims: Claims {
            survives: &["slow-holder", "clock-jump", "redis-restart", "redis-failover"],
            broken_by: &["majority-restart", "majority-clock-jump", "lock-service-restart"],
            sometimes_broken_by: &["minority-restart", "minority-clock-jump"],
            ..AS_FAMILY
        },
        weak_at: "write",
        needs: &[NODES],
        source: include_str!("redlock.rs"),
    },
    steps: &[SET_NX, PAUSE, COMPARE_DEL],
    reentrant: false,
    open: |world, _| Box::pin(async { opened(Redlock::open(world).await?) }),
};

struct Redlock {
    nodes: Arc<Nodes>,
    timeouts: Timeouts,
}

struct Nodes {
    nodes: Vec<Redis>,
    release: Script,
}

impl Redlock {
    async fn open(world: &World) -> Result<Self, Error> {
        let limit = ANSWER_WITHIN.max(world.timeouts.lease / 100);
        let mut nodes = Vec::new();
        for url in world.services.urls(NODES)? {
            let to = Connect {
                url,
                others: &[],
                instance: &world.instance,
                wait: world.timeouts.wait,
            };
            nodes.push(Redis::connect_to_answer_within(limit, to).await?);
        }
        let nodes = Nodes {
            nodes,
            release: Script::new(RELEASE),
        };
        Ok(Self {
            nodes: Arc::new(nodes),
            timeouts: world.timeouts,
        })
    }

    /// Returns the end of a lock that was requested at `begun`, less a margin for faster clocks of the servers.
    fn valid_until(&self, begun: Instant) -> Instant {
        let lease = self.timeouts.lease;
        let drift = lease / 100 + Duration::from_millis(2);
        begun + lease.saturating_sub(drift)
    }
}

impl Nodes {
    /// Sets the key at all servers, and returns at how many that succeeded.
    async fn set(&self, key: &str, token: &str, lease: Duration, probe: &Probe) -> usize {
        let mut set = cmd("SET");
        set.arg(key)
            .arg(token)
            .arg("NX")
            .arg("PX")
            .arg(lease.as_millis() as u64);
        let mut taken = 0;
        for node in &self.nodes {
            let set = probe.step(&SET_NX, &key, node.send(&set), taken_or_held).await;
            // A server that is gone or too slow counts as a refusal.
            taken += usize::from(set.unwrap_or(false));
        }
        taken
    }

    /// Deletes the key at all servers, as a lost response may hide that it was set. Returns at how many it was there.
    async fn delete(&self, key: &str, token: &str, probe: &Probe) -> usize {
        let mut release = self.release.key(key);
        release.arg(token);
        let words = |deleted: &bool| if *deleted { "deleted" } else { "token gone" };
        let mut deleted = 0;
        for node in &self.nodes {
            let gone = probe.step(&COMPARE_DEL, &key, node.run(&release), words).await;
            deleted += usize::from(gone.unwrap_or(false));
        }
        deleted
    }

    fn is_majority(&self, nodes: usize) -> bool {
        nodes > self.nodes.len() / 2
    }
}

#[async_trait]
impl Guard for Redlock {
    async fn lock(&self, item: &Name, probe: &Probe) -> Result<Option<Box<dyn Held>>, Error> {
        let (key, token) = (lock_key(item), Uuid::new_v4().to_string());
        let mut backoff = self.timeouts.backoff();
        while backoff.again(item, probe).await {
            let valid_until = self.valid_until(probe.time().now());
            let taken = self.nodes.set(&key, &token, self.timeouts.lease, probe).await;
            if self.nodes.is_majority(taken) && probe.time().now() < valid_until {
                let nodes = self.nodes.clone();
                return Ok(Some(Box::new(HeldLock {
                    nodes,
                    key,
                    token,
                    valid_until,
                })));
            }
            self.nodes.delete(&key, &token, probe).await;
        }
        Ok(None)
    }

    /// Asks all servers. A majority is enough, as a dead server must not keep a sale from opening.
    async fn forget(&self, item: &Name) -> Result<(), Error> {
        let nodes = &self.nodes.nodes;
        let (mut forgotten, mut failed) = (0, Ok(()));
        for node in nodes {
            match node.forget(&[lock_key(item)]).await {
                Ok(()) => forgotten += 1,
                Err(error) => failed = Err(error),
            }
        }
        if forgotten > nodes.len() / 2 { Ok(()) } else { failed }
    }
}

struct HeldLock {
    nodes: Arc<Nodes>,
    key: String,
    token: String,
    valid_until: Instant,
}

#[async_trait]
impl Held for HeldLock {
    async fn before_write(&mut self, probe: &Probe) -> Result<bool, Error> {
        Ok(probe.time().now() < self.valid_until)
    }

    async fn release(self: Box<Self>, probe: &Probe) -> Result<Released, Error> {
        let deleted = self.nodes.delete(&self.key, &self.token, probe).await;
        Ok(if self.nodes.is_majority(deleted) {
            Released::InTime
        } else {
            Released::TooLate
        })
    }
}
