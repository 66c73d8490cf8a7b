//! What mechanisms with messages share: a stream in Redis, the consumer that enters the order of each message, and the
//! wait of a buyer until its order is entered.

mod consumer;
mod stream;
mod waiters;

use std::io;
use std::sync::Arc;

use tokio::sync::Notify;
use tokio::time::{error::Elapsed, timeout};
use tokio_util::task::AbortOnDropHandle;

use self::consumer::Consumer;
pub(super) use self::stream::{ACK, CLAIM, JOIN, MAX_MESSAGES, RECEIVE, Stream};
use self::waiters::{ConsumerReply, OrderWait, Waiters};
use crate::domain::{Error, Name, Order, Purchase};
use crate::probe::{Probe, Step};
use crate::reconciler::{self, Pending, Reconciled};
use crate::stores::{Sql, Store};
use crate::timeouts::Timeouts;
use crate::world::World;

/// Waits for the reply of the consumer.
pub(super) const WAIT: Step = Step::wait("wait");

/// The messages of one mechanism at one instance.
pub(super) struct Messages {
    consumer: Arc<Consumer>,
    orders: Arc<Sql>,
    /// How long a buyer waits for the order: also until another consumer has claimed its message.
    timeouts: Timeouts,
    /// Stops when the mechanism is dropped.
    _consumer: AbortOnDropHandle<()>,
}

impl Messages {
    /// Starts the consumer of the stream `name`, which enters orders in `orders`.
    pub(super) fn open(name: &'static str, orders: Arc<Sql>, world: &World) -> Result<Self, Error> {
        let Timeouts { wait, lease } = world.timeouts;
        let consumer = Arc::new(Consumer {
            stream: Stream::new(name, world.store()?, world.instance.clone()),
            // Its own connections: purchases must not block it.
            sql: orders.with_connections_of_its_own()?,
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
            orders,
            timeouts: Timeouts {
                wait: wait + 2 * lease,
                lease,
            },
        })
    }

    pub(super) fn stream(&self) -> &Stream {
        &self.consumer.stream
    }

    pub(super) fn reconciled(&self) -> &Reconciled {
        &self.consumer.reconciled
    }

    /// Joins the purchases that wait for their order, before its message can be sent.
    pub(super) fn join(&self, purchase: &Purchase, probe: &Probe) -> OrderWait<'_> {
        self.consumer.waiters.join(probe.actor().number(), purchase.order)
    }

    /// Waits until the order is in the ledger. Its message is in the stream, so after an error the outcome is unknown.
    pub(super) async fn entered(
        &self,
        mut waiting: OrderWait<'_>,
        purchase: &Purchase,
        probe: &Probe,
    ) -> Result<(), Error> {
        waiting.sent();
        self.consumer.bell.notify_one();
        let words = |told: &Result<ConsumerReply, Elapsed>| match told {
            Ok(ConsumerReply::Recorded) => "recorded",
            Ok(ConsumerReply::NotHere) => "not here",
            Err(_) => "timed out",
        };
        let told = timeout(self.timeouts.wait, waiting.told());
        if let Ok(ConsumerReply::Recorded) = probe.local(&WAIT, &purchase.order, told, words).await {
            return Ok(());
        }
        let unknown = |error: Error| Error::failed(Sql::NAME, error);
        match self.look(purchase, probe).await.map_err(unknown)? {
            Some(_) => Ok(()),
            None => Err(Error::failed(Sql::NAME, io::Error::from(io::ErrorKind::TimedOut))),
        }
    }

    /// Looks for the order in the ledger; `None` when it was not there in time.
    pub(super) async fn look(&self, purchase: &Purchase, probe: &Probe) -> Result<Option<Order>, Error> {
        let mut sql = self.orders.connected(probe).await?;
        let mut backoff = self.timeouts.backoff();
        while backoff.again(&purchase.item, probe).await {
            if let Some(order) = self.orders.find(purchase, probe, &mut sql).await? {
                return Ok(Some(order));
            }
        }
        Ok(None)
    }

    pub(super) async fn forget(&self, item: &Name) -> Result<(), Error> {
        self.reconciled().forget(item);
        self.stream().forget(item).await
    }

    pub(super) async fn pending(&self, item: &Name) -> Result<Pending, Error> {
        let open = self.stream().open(item).await?;
        Ok(self.reconciled().of(item, open))
    }
}
