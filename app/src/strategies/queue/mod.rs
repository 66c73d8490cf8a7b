//! A queue per item and a single writer: purchases stand in a stream of Redis, and one instance decides about all.
//!
//! ```text
//! A: enqueue, wait
//!                     B: enqueue, wait
//! writer at A: lead, write       -- A is sold, B is sold out
//! ```
//!
//! Any instance may lead a queue, by a lease, until it is empty. It decides in memory, and writes counter, orders and
//! answers in one script, which also takes the purchases out of the queue. The script refuses a writer whose lease is
//! over. A dead writer has decided nothing: another one takes over after the lease. A purchase that stands there twice
//! is found in the ledger. A buyer is told by the writer, or asks. After the wait and two leases the outcome is unknown,
//! and behind 10,000 others a buyer is told busy. It pays off where deciding takes long: `lua` needs no writer. Cost:
//! one round trip, three of the writer's.

mod waiting;
mod writer;

use std::io;
use std::sync::Arc;

use async_trait::async_trait;
use redis::{Script, pipe};
use tokio::time::{error::Elapsed, timeout};
use tokio_util::task::AbortOnDropHandle;

use self::waiting::{Told, Wait};
use self::writer::{DROP_ANSWERS, LEAD, LOOK, WRITE, Writer};
use super::{NativeEntry, Strategy, opened};
use crate::domain::{Error, Name, Outcome, Purchase};
use crate::mechanism::{AS_FAMILY, Family, Mechanism};
use crate::probe::{Probe, Step, StepValue};
use crate::reconciler::{self, Pending};
use crate::stores::redis::READ;
use crate::stores::{Redis, Stock, Store};
use crate::timeouts::{PAUSE, Timeouts};
use crate::world::World;

/// The most purchases in a queue.
const MOST_QUEUED: usize = 10_000;

/// The key of the set of items whose queues are not empty.
const ITEMS: &str = "queue-items";

const ENQUEUE: Step = Step::command("enqueue", &["EVALSHA"]);
/// Waits for the writer of this instance.
const WAIT: Step = Step::wait("wait");
/// Asks for the answer of another writer.
const ASK: Step = Step::command("ask", &["EVALSHA"]);

pub(super) const ENTRY: NativeEntry = NativeEntry {
    mechanism: Mechanism {
        name: "queue",
        family: Family::Atomic,
        lesson: 9,
        summary: "a queue per item, one writer by a lease that decides in memory, and a script that fences its writes",
        claims: AS_FAMILY,
        weak_at: "enqueue+",
        needs: &[],
        source: include_str!("mod.rs"),
    },
    stores: &["redis"],
    steps: &[ENQUEUE, WAIT, PAUSE, ASK, READ, LOOK, LEAD, WRITE, DROP_ANSWERS],
    open: |world, _| Box::pin(async { opened(Queue::open(world)?) }),
};

/// The keys of an item's queue, of the lease of its writer, and of the answers that nobody has taken yet.
struct Keys {
    queue: String,
    writer: String,
    answers: String,
}

fn keys(item: &Name) -> Keys {
    Keys {
        queue: format!("queue:{{{item}}}"),
        writer: format!("queue-writer:{{{item}}}"),
        answers: format!("queue-answers:{{{item}}}"),
    }
}

struct Queue {
    redis: Arc<Redis>,
    enqueue: Script,
    ask: Script,
    writer: Arc<Writer>,
    /// How long a buyer waits: also until another writer has taken over.
    timeouts: Timeouts,
    /// Stops when the strategy is dropped.
    _writer: AbortOnDropHandle<()>,
}

impl Queue {
    fn open(world: &World) -> Result<Self, Error> {
        let Timeouts { wait, lease } = world.timeouts;
        let redis = world.store::<Redis>()?;
        let writer = Arc::new(Writer::new(redis.clone(), lease, reconciler::pause(lease)));
        let writes = writer.clone();
        Ok(Self {
            redis,
            enqueue: Script::new(include_str!("enqueue.lua")),
            ask: Script::new(include_str!("ask.lua")),
            _writer: world.start("writer", |probe| writer::run(writes, probe)),
            writer,
            timeouts: Timeouts {
                wait: wait + 2 * lease,
                lease,
            },
        })
    }

    /// Puts the purchase into the queue. Returns the result as a word, with the order that it made before.
    async fn enqueue(&self, wait: &Wait<'_>, purchase: &Purchase, probe: &Probe) -> Result<(String, String), Error> {
        let mut enqueue = self.enqueue.key(Redis::stock_key(&purchase.item));
        enqueue
            .key(Redis::orders_key(&purchase.item))
            .key(keys(&purchase.item).queue)
            .key(ITEMS)
            .arg(purchase.order.to_string())
            .arg(purchase.item.as_str())
            .arg(self.redis.entry(purchase))
            .arg(wait.ticket.to_string())
            .arg(MOST_QUEUED);
        let words = |(word, _): &(String, String)| word.clone();
        probe
            .step(&ENQUEUE, &purchase.item, self.redis.run(&enqueue), words)
            .await
    }

    /// Waits for the answer to a purchase that is in the queue. After an error the outcome is unknown.
    async fn answer(&self, mut wait: Wait<'_>, purchase: &Purchase, probe: &Probe) -> Result<Outcome, Error> {
        wait.queued();
        self.writer.ring(&purchase.item);
        let mut backoff = self.timeouts.backoff();
        let words = |told: &Result<Told, Elapsed>| match told {
            Ok(Told::Outcome(Outcome::Sold { remaining })) => StepValue::Left(*remaining).after("sold"),
            Ok(Told::Outcome(Outcome::Repeated(_))) => "repeated".into(),
            Ok(Told::Outcome(_)) => "sold out".into(),
            Ok(Told::NotHere) => "not here".into(),
            Err(_) => "timed out".into(),
        };
        let ticket = wait.ticket;
        let told = timeout(self.timeouts.wait, wait.told());
        if let Ok(Told::Outcome(outcome)) = probe.local(&WAIT, &purchase.order, told, words).await {
            return Ok(outcome);
        }
        while backoff.again(&purchase.item, probe).await {
            let mut ask = self.ask.key(keys(&purchase.item).answers);
            ask.arg(ticket.to_string());
            let words = |answer: &Option<String>| answer.clone().unwrap_or_else(|| "no answer yet".to_owned());
            let answer: Option<String> = probe.step(&ASK, &purchase.item, self.redis.run(&ask), words).await?;
            if let Some(answer) = answer {
                return self.outcome(&answer, purchase, probe).await;
            }
        }
        Err(Error::failed(Redis::NAME, io::Error::from(io::ErrorKind::TimedOut)))
    }

    /// Returns the outcome that an answer in Redis names.
    async fn outcome(&self, answer: &str, purchase: &Purchase, probe: &Probe) -> Result<Outcome, Error> {
        let left = answer.strip_prefix("sold ").and_then(|left| left.parse().ok());
        Ok(match (left, answer) {
            (Some(remaining), _) => Outcome::Sold { remaining },
            (None, "repeated") => {
                let found = self.redis.read(purchase, probe).await?;
                let order = found.and_then(|found| found.order);
                order.map_or(Outcome::UnknownItem, Outcome::Repeated)
            }
            (None, "sold out") => Outcome::SoldOut,
            (None, other) => {
                return Err(Error::Corrupt {
                    store: Redis::NAME,
                    what: other.to_owned(),
                });
            }
        })
    }
}

#[async_trait]
impl Strategy for Queue {
    async fn buy(&self, purchase: &Purchase, probe: &Probe) -> Result<Outcome, Error> {
        probe.work().await;
        let wait = self.writer.waiting.join(&purchase.item);
        let (word, entry) = self.enqueue(&wait, purchase, probe).await?;
        match word.as_str() {
            "queued" => self.answer(wait, purchase, probe).await,
            "repeated" => Ok(Outcome::Repeated(Redis::order(&entry)?)),
            "unknown" => Ok(Outcome::UnknownItem),
            _ => Ok(Outcome::Busy),
        }
    }

    async fn forget(&self, item: &Name) -> Result<(), Error> {
        self.writer.reconciled.forget(item);
        let Keys { queue, writer, answers } = keys(item);
        let mut forget = pipe();
        forget.del(&[queue, writer, answers]).srem(ITEMS, item.as_str());
        self.redis.operate(&forget).await
    }

    async fn pending(&self, item: &Name) -> Result<Pending, Error> {
        let (open,): (u64,) = self.redis.operate(pipe().cmd("XLEN").arg(keys(item).queue)).await?;
        Ok(self.writer.reconciled.of(item, open))
    }
}
