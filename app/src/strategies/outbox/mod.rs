//! A transactional outbox: stock and message change in one step in Redis. A consumer enters the order in MariaDB.
//!
//! ```text
//! A: take        -- left 0, and a message in the stream
//! A: (killed)
//!                     B: take -> sold out
//! consumer at B: receive, record, ack
//! -- the same message again: record -> duplicate, ack
//! ```
//!
//! Units are never taken without a message, as one store has both. A broker of its own needs a half message: see
//! `half-message`. A message stays until its order is entered, and the primary key lets an order be entered once. A
//! buyer is answered when the order is in the ledger. Cost: one round trip, three of the consumer's.

use std::sync::Arc;

use async_trait::async_trait;
use redis::Script;

use super::messages::{ACK, CLAIM, JOIN, MAX_MESSAGES, Messages, RECEIVE, WAIT};
use super::{NativeEntry, Strategy, opened};
use crate::domain::{Error, Name, Outcome, Purchase};
use crate::mechanism::{AS_FAMILY, Family, Mechanism};
use crate::probe::{Probe, Role, Step, StepValue};
use crate::reconciler::Pending;
use crate::stores::Redis;
use crate::stores::sql::{CONNECT, FIND, RECORD};
use crate::timeouts::PAUSE;
use crate::world::World;

/// The name of the stream.
const STREAM: &str = "outbox";

const TAKE: Step = Step::command("take", &["EVALSHA"]).plays(Role::Write);

pub(super) const ENTRY: NativeEntry = NativeEntry {
    mechanism: Mechanism {
        name: "outbox",
        family: Family::TwoStores,
        lesson: 10,
        summary: "take and leave a message in one Lua script; a consumer of the stream enters the order",
        claims: AS_FAMILY,
        weak_at: "take+",
        needs: &[],
        source: include_str!("mod.rs"),
    },
    stores: &["redis+sql"],
    steps: &[TAKE, WAIT, CONNECT, FIND, PAUSE, JOIN, RECEIVE, CLAIM, RECORD, ACK],
    open: |world, _| Box::pin(async { opened(Outbox::open(world)?) }),
};

struct Outbox {
    redis: Arc<Redis>,
    take: Script,
    messages: Messages,
}

impl Outbox {
    fn open(world: &World) -> Result<Self, Error> {
        Ok(Self {
            redis: world.store()?,
            take: Script::new(include_str!("take.lua")),
            messages: Messages::open(STREAM, world.store()?, world)?,
        })
    }

    /// Takes the units and leaves the message. Returns the result as a word, and the units left.
    async fn take(&self, purchase: &Purchase, probe: &Probe) -> Result<(String, i64), Error> {
        let stock = Redis::stock_key(&purchase.item);
        let mut script = self.take.key(&stock);
        script
            .key(self.messages.stream().key_of(&purchase.item))
            .key(STREAM)
            .arg(purchase.quantity)
            .arg(purchase.order.to_string())
            .arg(purchase.item.as_str())
            .arg(self.redis.entry(purchase))
            .arg(MAX_MESSAGES);
        let words = |(word, left): &(String, i64)| StepValue::Left(*left).after(word);
        probe.step(&TAKE, &stock, self.redis.run(&script), words).await
    }
}

#[async_trait]
impl Strategy for Outbox {
    async fn buy(&self, purchase: &Purchase, probe: &Probe) -> Result<Outcome, Error> {
        probe.work().await;
        let waiting = self.messages.join(purchase, probe);
        let (word, remaining) = self.take(purchase, probe).await?;
        match word.as_str() {
            "taken" => {}
            "taken before" => {
                let order = self.messages.look(purchase, probe).await?;
                return Ok(order.map_or(Outcome::Busy, Outcome::Repeated));
            }
            "sold out" => return Ok(Outcome::SoldOut),
            "unknown" => return Ok(Outcome::UnknownItem),
            _ => return Ok(Outcome::Busy),
        }
        self.messages.entered(waiting, purchase, probe).await?;
        Ok(Outcome::Sold { remaining })
    }

    async fn forget(&self, item: &Name) -> Result<(), Error> {
        self.messages.forget(item).await
    }

    async fn pending(&self, item: &Name) -> Result<Pending, Error> {
        self.messages.pending(item).await
    }
}
