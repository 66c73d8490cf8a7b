//! A transactional outbox: stock and message change in one step in Redis, and a consumer enters the order in MariaDB.
//!
//! ```text
//! A: take        -- left 0, and a message in the stream
//! A: (killed)
//!                     B: take -> sold out
//!                     consumer at B: receive, record, ack
//!                     consumer at B: (the same message again): record -> duplicate, ack
//! ```
//!
//! Units are never taken without a message, a message stays until its order is entered, and the primary key lets an
//! order be entered once. A buyer is answered when the order is in the ledger.
//! Cost: one round trip, three of the consumer's.

mod consumer;
mod stream;
mod waiters;

use std::io;
use std::sync::Arc;

use async_trait::async_trait;
use tokio::sync::Notify;
use tokio::time::{error::Elapsed, timeout};
use tokio_util::task::AbortOnDropHandle;

use self::consumer::Consumer;
use self::stream::{ACK, CLAIM, JOIN, RECEIVE, Stream, TAKE};
use self::waiters::{ConsumerReply, Waiters};
use super::{NativeEntry, Strategy, opened};
use crate::domain::{Error, Name, Order, Outcome, Purchase};
use crate::mechanism::{AS_FAMILY, Family, Mechanism};
use crate::probe::{Probe, Step};
use crate::reconciler::{self, Pending, Reconciled};
use crate::stores::sql::{CONNECT, FIND, RECORD};
use crate::stores::{Sql, Store};
use crate::timeouts::{PAUSE, Timeouts};
use crate::world::World;

/// Waits for the reply of the consumer.
const WAIT: Step = Step::local("wait");

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
    store: "redis+sql",
    steps: &[TAKE, WAIT, CONNECT, FIND, PAUSE, JOIN, RECEIVE, CLAIM, RECORD, ACK],
    open: |world| Box::pin(async { opened(Outbox::open(world)?) }),
};

struct Outbox {
    consumer: Arc<Consumer>,
    sql: Arc<Sql>,
    /// How long a buyer waits for the order: also until another consumer has claimed its message.
    timeouts: Timeouts,
    /// Stops when the strategy is dropped.
    _consumer: AbortOnDropHandle<()>,
}

impl Outbox {
    fn open(world: &World) -> Result<Self, Error> {
        let sql = world.store::<Sql>()?;
        let Timeouts { wait, lease } = world.timeouts;
        let consumer = Arc::new(Consumer {
            stream: Stream::new(world.store()?, world.instance.clone()),
            // Its own connections: purchases must not block it.
            sql: sql.with_connections_of_its_own()?,
            waiters: Waiters::default(),
            bell: Notify::new(),
            reconciled: Reconciled::default(),
            lease,
            pause: reconciler::pause(lease),
        });
        let consumes = consumer.clone();
        Ok(Self {
            _consumer: world.start("consumer", |probe| consumer::consume(consumes, probe)),
            consumer,
            sql,
            timeouts: Timeouts {
                wait: wait + 2 * lease,
                lease,
            },
        })
    }

    /// Looks for the order in the ledger; `None` when it was not there in time.
    async fn look(&self, purchase: &Purchase, probe: &Probe) -> Result<Option<Order>, Error> {
        let mut sql = self.sql.connected(probe).await?;
        let mut backoff = self.timeouts.backoff();
        while backoff.again(&purchase.item, probe).await {
            if let Some(order) = self.sql.find(purchase, probe, &mut sql).await? {
                return Ok(Some(order));
            }
        }
        Ok(None)
    }
}

#[async_trait]
impl Strategy for Outbox {
    async fn buy(&self, purchase: &Purchase, probe: &Probe) -> Result<Outcome, Error> {
        probe.work().await;
        let Consumer {
            stream, waiters, bell, ..
        } = &*self.consumer;
        let mut waiting = waiters.join(probe.actor().number(), purchase.order);
        let (word, remaining) = stream.take(purchase, probe).await?;
        match word.as_str() {
            "taken" => {}
            "taken before" => {
                let order = self.look(purchase, probe).await?;
                return Ok(order.map_or(Outcome::Busy, Outcome::Repeated));
            }
            "sold out" => return Ok(Outcome::SoldOut),
            "unknown" => return Ok(Outcome::UnknownItem),
            _ => return Ok(Outcome::Busy),
        }
        waiting.sent();
        bell.notify_one();
        let words = |told: &Result<ConsumerReply, Elapsed>| match told {
            Ok(ConsumerReply::Recorded) => "recorded",
            Ok(ConsumerReply::NotHere) => "not here",
            Err(_) => "timed out",
        };
        let told = timeout(self.timeouts.wait, waiting.told());
        if let Ok(ConsumerReply::Recorded) = probe.local(&WAIT, &purchase.order, told, words).await {
            return Ok(Outcome::Sold { remaining });
        }
        // The unit is taken: without news of its order the outcome is unknown.
        let unknown = |error: Error| Error::failed(Sql::NAME, error);
        match self.look(purchase, probe).await.map_err(unknown)? {
            Some(_) => Ok(Outcome::Sold { remaining }),
            None => Err(Error::failed(Sql::NAME, io::Error::from(io::ErrorKind::TimedOut))),
        }
    }

    async fn forget(&self, item: &Name) -> Result<(), Error> {
        self.consumer.reconciled.forget(item);
        self.consumer.stream.forget(item).await
    }

    async fn pending(&self, item: &Name) -> Result<Pending, Error> {
        let open = self.consumer.stream.open(item).await?;
        Ok(self.consumer.reconciled.of(item, open))
    }
}
