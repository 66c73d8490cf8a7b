//! MQ transactional message, as in RocketMQ: a half message, the local transaction, then the message or nothing.
//!
//! ```text
//! A: send-half                     -- no consumer sees it
//! A: begin, enter, take, commit; (killed)    -- the stock: 0 left
//!                     B: send-half; begin, enter, take -> sold out
//! check-back: (the lease ends); answer, commit-half  -- A's transaction has committed
//! consumer at B: receive, record, ack
//! ```
//!
//! Every unit that is taken has its half message, and the broker asks back about each that does not end. Source:
//! RocketMQ, which tutorial 002 names. Here Redis plays the broker, without RocketMQ's replicas: where it loses its
//! data, a unit is lost. An instance looks for its questions, which have no end; RocketMQ drops a message after 15.
//! Ours: the answer "rolled back" takes the transaction's place, so that a late one is refused, and a buyer is answered
//! when the order is entered. Cost: seven round trips, three of the consumer's.

mod broker;
mod transactions;

use std::sync::Arc;

use async_trait::async_trait;
use futures_util::future::join_all;
use tokio_util::task::AbortOnDropHandle;

use self::broker::{Broker, CHECK_BACK, COMMIT_HALF, Ending, Half, IS_HALF, ROLL_BACK_HALF, SEND_HALF};
use self::transactions::{ANSWER, ENTER, LOOK, LOOK_UP};
use super::messages::{ACK, CLAIM, JOIN, Messages, RECEIVE, WAIT};
use super::{NativeEntry, Strategy, opened};
use crate::domain::{Error, Name, Outcome, Purchase};
use crate::mechanism::{AS_FAMILY, Claims, Family, Mechanism};
use crate::probe::Probe;
use crate::reconciler::{self, BATCH, End, Pending, Reconcile};
use crate::stores::sql::{
    BEGIN, COMMIT, CONNECT, Connection, Databases, FIND, READ, READ_LEFT, RECORD, ROLLBACK, TAKE, query,
};
use crate::stores::{Redis, Sql, Stock, Store};
use crate::timeouts::{PAUSE, Timeouts};
use crate::world::World;

/// The name of the mechanism and of its stream.
const NAME: &str = "half-message";

pub(super) const ENTRY: NativeEntry = NativeEntry {
    mechanism: Mechanism {
        name: NAME,
        family: Family::TwoStores,
        lesson: 10,
        summary: "a half message, the local transaction, then the message or nothing; the broker asks back",
        claims: Claims {
            // Half messages that are open then are lost.
            sometimes_broken_by: &["redis-restart", "redis-failover"],
            ..AS_FAMILY
        },
        weak_at: "commit+",
        needs: &["redis"],
        source: include_str!("mod.rs"),
    },
    stores: &["sql+sql"],
    steps: &[
        CONNECT,
        SEND_HALF,
        BEGIN,
        ENTER,
        TAKE,
        READ_LEFT,
        COMMIT,
        COMMIT_HALF,
        WAIT,
        ROLLBACK,
        ROLL_BACK_HALF,
        LOOK,
        FIND,
        READ,
        PAUSE,
        JOIN,
        RECEIVE,
        CLAIM,
        RECORD,
        ACK,
        CHECK_BACK,
        IS_HALF,
        ANSWER,
        LOOK_UP,
    ],
    open: |world, _| Box::pin(async { opened(HalfMessage::open(world).await?) }),
};

struct HalfMessage {
    producer: Arc<Producer>,
    /// Stops when the strategy is dropped.
    _reconciler: AbortOnDropHandle<()>,
}

impl HalfMessage {
    async fn open(world: &World) -> Result<Self, Error> {
        let Databases { stock, orders } = world.databases().await?;
        stock.lay(transactions::TABLE).await?;
        let producer = Arc::new(Producer {
            broker: Broker::new(world.store()?, world.timeouts.lease),
            messages: Messages::open(NAME, orders, world)?,
            // Its own connections: purchases must not block it.
            reconcilers_stock: stock.with_connections_of_its_own()?,
            stock,
            timeouts: world.timeouts,
        });
        Ok(Self {
            _reconciler: reconciler::start(world, producer.clone()),
            producer,
        })
    }
}

struct Producer {
    broker: Broker,
    messages: Messages,
    stock: Arc<Sql>,
    reconcilers_stock: Sql,
    timeouts: Timeouts,
}

/// The result of a local transaction.
enum Local {
    /// Committed, and so many units are left.
    Committed(i64),
    /// Changes nothing: too few units are left.
    SoldOut,
    /// Changes nothing: another one took its place.
    EnteredBefore,
}

impl Producer {
    /// Makes one attempt; `None` when it changed nothing and another one may follow.
    async fn attempt(&self, purchase: &Purchase, probe: &Probe) -> Result<Option<Outcome>, Error> {
        // Connects before the half message: a purchase that gets no connection sends none.
        let mut sql = self.stock.connected(probe).await?;
        let half = Half::of(purchase);
        let waiting = self.messages.join(purchase, probe);
        let sent = self.broker.send(&half, purchase, self.messages.stream(), probe).await;
        // Without a local transaction nothing is sold, even if the broker has the message.
        if !sent.map_err(|error| Error::given_up(Redis::NAME, &error))? {
            return Ok(Some(Outcome::Busy));
        }
        let local = self.local(&half, purchase, probe, &mut sql).await;
        match local {
            Ok(Local::Committed(remaining)) => {
                drop(sql);
                self.end(&half, Ending::Commit, probe).await;
                self.messages.entered(waiting, purchase, probe).await?;
                Ok(Some(Outcome::Sold { remaining }))
            }
            Err(error) if !error.changed_nothing() => Err(error),
            nothing => {
                self.stock.roll_back(purchase, probe, &mut sql).await?;
                let is_taken = matches!(nothing, Ok(Local::EnteredBefore))
                    && transactions::has_taken(purchase, probe, &mut sql).await?;
                drop(sql);
                self.end(&half, Ending::RollBack, probe).await;
                match nothing {
                    Ok(Local::SoldOut) => self.refusal(purchase, probe).await.map(Some),
                    _ if is_taken => {
                        let order = self.messages.look(purchase, probe).await?;
                        Ok(Some(order.map_or(Outcome::Busy, Outcome::Repeated)))
                    }
                    _ => Ok(None),
                }
            }
        }
    }

    /// The local transaction. What changes nothing is left open.
    async fn local(
        &self,
        half: &Half,
        purchase: &Purchase,
        probe: &Probe,
        sql: &mut Connection,
    ) -> Result<Local, Error> {
        probe.step(&BEGIN, &purchase.item, sql.begin(), |()| "begun").await?;
        if !transactions::enter(half, purchase, probe, sql).await? {
            return Ok(Local::EnteredBefore);
        }
        let Some(remaining) = Databases::take(purchase, probe, sql).await? else {
            return Ok(Local::SoldOut);
        };
        self.stock.commit(purchase, probe, sql).await?;
        Ok(Local::Committed(remaining))
    }

    /// Ends the half message of a local transaction that has ended. If that fails, the broker asks back.
    async fn end(&self, half: &Half, ending: Ending, probe: &Probe) {
        if let Err(error) = self.broker.end(half, ending, self.messages.stream(), probe).await {
            tracing::warn!(%error, "left to the check-back");
        }
    }

    async fn refusal(&self, purchase: &Purchase, probe: &Probe) -> Result<Outcome, Error> {
        let found = self.stock.read(purchase, probe).await?;
        Ok(found.map_or(Outcome::UnknownItem, |_| Outcome::SoldOut))
    }

    /// Answers the broker's question about a half message by a look at its local transaction.
    async fn answer(&self, half: &Half, probe: &Probe) -> Result<(), Error> {
        let probe = &probe.about(&half.item);
        let stream = self.messages.stream();
        let ending = match self.broker.is_half(half, stream, probe).await? {
            true => {
                let mut sql = self.reconcilers_stock.connected(probe).await?;
                transactions::answer(half, probe, &mut sql).await?
            }
            false => Ending::RollBack,
        };
        let hung_ms = self.broker.end(half, ending, stream, probe).await?;
        // A committed one is counted when its order is entered.
        if let Some(hung_ms) = hung_ms.filter(|_| ending == Ending::RollBack) {
            self.messages
                .reconciled()
                .count(&half.item, End::Undone, hung_ms, probe.counts());
        }
        Ok(())
    }
}

#[async_trait]
impl Reconcile for Producer {
    async fn reconcile(&self, probe: &Probe) -> Result<bool, Error> {
        let asked = self.broker.asks(probe).await?;
        let answers = asked.iter().map(|half| self.answer(half, probe));
        // Tries all: one that fails must not block the others.
        join_all(answers).await.into_iter().collect::<Result<(), _>>()?;
        Ok(asked.len() == BATCH)
    }
}

#[async_trait]
impl Strategy for HalfMessage {
    async fn buy(&self, purchase: &Purchase, probe: &Probe) -> Result<Outcome, Error> {
        probe.work().await;
        let mut backoff = self.producer.timeouts.backoff();
        while backoff.again(&purchase.item, probe).await {
            if let Some(outcome) = self.producer.attempt(purchase, probe).await? {
                return Ok(outcome);
            }
        }
        Ok(Outcome::Busy)
    }

    async fn forget(&self, item: &Name) -> Result<(), Error> {
        let delete = || [query("delete from half_messages where item = ?").bind(item.as_str())];
        self.producer.stock.operate(delete).await?;
        self.producer.messages.forget(item).await
    }

    async fn pending(&self, item: &Name) -> Result<Pending, Error> {
        self.producer.messages.pending(item).await
    }
}
