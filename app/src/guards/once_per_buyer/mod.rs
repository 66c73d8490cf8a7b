//! A lock on the buyer and not on the stock: each buyer enters once per sale.
//!
//! ```text
//! A: lock-buyer a -> taken, the first time in this sale
//!                     B: lock-buyer b -> taken, the first time in this sale
//! A: read 1
//!                     B: read 1
//! A: write 0, order
//!                     B: write 0, order    -- oversold: two buyers have two locks
//! -- a buyer who has entered before is refused at once
//! ```
//!
//! It keeps a buyer from buying twice, which is its purpose. A retry is the same purchase and may enter again. The
//! stock needs another guard. No tutorial has it: it is `interval` for a buyer, with the sale as the interval.
//! Cost: two round trips, and one for each attempt while the same purchase is running elsewhere.

use std::sync::Arc;

use async_trait::async_trait;
use redis::Script;
use uuid::Uuid;

use super::{Guard, GuardEntry, Held, Released, opened};
use crate::domain::{Error, Name};
use crate::mechanism::{AS_FAMILY, Family, Mechanism};
use crate::probe::{Actor, Data, Probe, Role, Step};
use crate::stores::Redis;
use crate::timeouts::{PAUSE, Timeouts};

/// The most buyers in one sale. It bounds the data in Redis.
const MAX_BUYERS: u32 = 1_000_000;

/// How long Redis remembers the buyers after the last entry, in seconds, also of an item that was never on sale.
const REMEMBERED_FOR_S: u32 = 24 * 60 * 60;

const ENTER: Step = Step::command("lock-buyer", &["EVALSHA"])
    .writes(Data::LOCK)
    .plays(Role::Lock);
const LEAVE: Step = Step::command("release-buyer", &["EVALSHA"])
    .writes(Data::LOCK)
    .plays(Role::Release);

pub(super) const ENTRY: GuardEntry = GuardEntry {
    mechanism: Mechanism {
        name: "once-per-buyer",
        family: Family::BuyerLimit,
        lesson: 4,
        summary: "a lock on the buyer, who may enter once per sale; nothing protects the stock",
        claims: AS_FAMILY,
        weak_at: "write",
        needs: &["redis"],
        source: include_str!("mod.rs"),
    },
    steps: &[ENTER, PAUSE, LEAVE],
    reentrant: false,
    open: |world, store| {
        Box::pin(async move {
            opened(OncePerBuyer {
                redis: world.redis(store)?,
                enter: Script::new(include_str!("enter.lua")),
                leave: Arc::new(Script::new(include_str!("leave.lua"))),
                timeouts: world.timeouts,
            })
        })
    },
};

struct OncePerBuyer {
    redis: Arc<Redis>,
    enter: Script,
    leave: Arc<Script>,
    timeouts: Timeouts,
}

/// The keys of the locks of an item's buyers, of the times at which they entered, and of their orders.
fn keys(item: &Name) -> [String; 3] {
    ["locks", "times", "orders"].map(|what| format!("once:{{{item}}}:{what}"))
}

#[async_trait]
impl Guard for OncePerBuyer {
    async fn lock(&self, item: &Name, probe: &Probe) -> Result<Option<Box<dyn Held>>, Error> {
        let (Actor::Purchase(attempt) | Actor::Renewal(attempt)) = probe.actor() else {
            // Only a purchase has a buyer to lock.
            return Ok(None);
        };
        let (keys, buyer, owner) = (keys(item), attempt.buyer.clone(), Uuid::new_v4().to_string());
        let mut enter = self.enter.prepare_invoke();
        enter.key(&keys).arg(buyer.as_str()).arg(&owner);
        enter.arg(self.timeouts.lease.as_millis() as u64);
        enter
            .arg(attempt.order.to_string())
            .arg(MAX_BUYERS)
            .arg(REMEMBERED_FOR_S);
        let mut backoff = self.timeouts.backoff();
        while backoff.again(item, probe).await {
            let entered: String = probe
                .step(&ENTER, &buyer, self.redis.run(&enter), String::clone)
                .await?;
            if entered == "taken" {
                let (redis, leave) = (self.redis.clone(), self.leave.clone());
                let [locks, ..] = keys;
                return Ok(Some(Box::new(HeldLock {
                    redis,
                    leave,
                    locks,
                    buyer,
                    owner,
                })));
            }
            if entered == "refused" {
                return Ok(None);
            }
        }
        Ok(None)
    }

    /// The limit ends with the sale.
    async fn forget(&self, item: &Name) -> Result<(), Error> {
        self.redis.forget(&keys(item)).await
    }
}

struct HeldLock {
    redis: Arc<Redis>,
    leave: Arc<Script>,
    locks: String,
    buyer: Name,
    owner: String,
}

#[async_trait]
impl Held for HeldLock {
    async fn release(self: Box<Self>, probe: &Probe) -> Result<Released, Error> {
        let mut leave = self.leave.key(&self.locks);
        leave.arg(self.buyer.as_str()).arg(&self.owner);
        let words = |left: &bool| if *left { "released" } else { "lock gone" };
        let left = probe.step(&LEAVE, &self.buyer, self.redis.run(&leave), words).await?;
        Ok(if left { Released::InTime } else { Released::TooLate })
    }
}
