//! The writer of one instance. While it leads a queue, it alone decides who of it is served.

use std::collections::{HashMap, HashSet};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use redis::{Script, cmd};
use tokio::sync::Notify;
use uuid::Uuid;

use super::waiting::{Told, Waiting};
use super::{ITEMS, keys};
use crate::domain::{Error, Name, Outcome, Purchase};
use crate::probe::{Probe, Role, Step};
use crate::reconciler::{BATCH, End, Reconciled};
use crate::stores::{Redis, Store};
use crate::strategies::combining::Served;

pub(super) const LOOK: Step = Step::command("look-for-queues", &["SRANDMEMBER"]).looking_for_work();
pub(super) const LEAD: Step = Step::command("lead", &["EVALSHA"]).plays(Role::Read);
pub(super) const WRITE: Step = Step::command("write", &["EVALSHA"]).plays(Role::Write);
pub(super) const DROP_ANSWERS: Step = Step::command("drop-answers", &["HDEL"]);

/// The most purchases that are decided at once.
const MOST_AT_ONCE: usize = 100;

/// The writer of one instance.
pub(super) struct Writer {
    pub(super) redis: Arc<Redis>,
    pub(super) waiting: Waiting,
    pub(super) reconciled: Reconciled,
    /// How long it leads without a sign of life.
    pub(super) lease: Duration,
    /// How long it sleeps while nobody rings.
    pub(super) pause: Duration,
    lead: Script,
    write: Script,
    /// The items whose purchases have rung.
    rung: Mutex<HashSet<Name>>,
    bell: Notify,
}

/// The answer of `lead.lua`: a word, the units left, and purchases.
type Led = (String, i64, Vec<Entry>);

/// A purchase in the queue: its id there, its order, its ledger entry, its ticket, the entry that it made before or nothing,
/// and its age in ms.
type Entry = (String, String, String, String, String, u64);

struct Queued {
    id: String,
    purchase: Purchase,
    /// The ledger entry of its order.
    entry: String,
    ticket: Uuid,
    /// The ledger entry of an order that it made before.
    before: Option<String>,
    age_ms: u64,
}

/// Runs until it is dropped.
pub(super) async fn run(writer: Arc<Writer>, probe: Probe) {
    let time = probe.time();
    let mut looks_at = time.now();
    loop {
        tokio::select! {
            biased;
            () = writer.bell.notified() => {}
            () = time.sleep_until(looks_at) => {}
        }
        let mut items = std::mem::take(&mut *writer.rung.lock().unwrap_or_else(PoisonError::into_inner));
        if time.now() >= looks_at {
            looks_at = time.now() + writer.pause;
            // Queues that a writer of another instance has left.
            match writer.look(&probe).await {
                Ok(left) => items.extend(left),
                Err(error) => tracing::warn!(%error, "queues are left for the next look"),
            }
        }
        for item in items {
            let waiting = writer.waiting.queued(&item);
            if let Err(error) = writer.serve(&item, &probe.about(&item)).await {
                tracing::warn!(%error, %item, "purchases stay in the queue for now");
            }
            // They now ask for their answers themselves.
            for ticket in waiting {
                writer.waiting.tell(ticket, Told::NotHere);
            }
        }
    }
}

impl Writer {
    pub(super) fn new(redis: Arc<Redis>, lease: Duration, pause: Duration) -> Self {
        Self {
            redis,
            waiting: Waiting::default(),
            reconciled: Reconciled::default(),
            lease,
            pause,
            lead: Script::new(include_str!("lead.lua")),
            write: Script::new(include_str!("write.lua")),
            rung: Mutex::default(),
            bell: Notify::new(),
        }
    }

    /// Wakes it for a purchase of this item.
    pub(super) fn ring(&self, item: &Name) {
        self.rung
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .insert(item.clone());
        self.bell.notify_one();
    }

    /// Returns some items whose queues are not empty.
    async fn look(&self, probe: &Probe) -> Result<Vec<Name>, Error> {
        let mut command = cmd("SRANDMEMBER");
        command.arg(ITEMS).arg(BATCH);
        let words = |items: &Vec<String>| format!("{} queues", items.len());
        let items = probe.step(&LOOK, &ITEMS, self.redis.send(&command), words).await?;
        Ok(items.iter().filter_map(|item| Name::parse(item).ok()).collect())
    }

    /// Leads the queue of an item until it is empty, unless another writer does.
    async fn serve(&self, item: &Name, probe: &Probe) -> Result<(), Error> {
        let token = Uuid::new_v4().to_string();
        loop {
            let Some((left, queued)) = self.lead(item, &token, probe).await? else {
                return Ok(());
            };
            let before = queued.iter().filter_map(|queued| {
                let order = Redis::order(queued.before.as_deref()?).ok()?;
                Some((queued.purchase.order, order))
            });
            let before: HashMap<_, _> = before.collect();
            let outcomes = Served::of(queued.iter().map(|queued| &queued.purchase), left, before).outcomes;
            let word = self.write(item, &token, left, (&queued, &outcomes), probe).await?;
            if word == "another leads" {
                return Ok(());
            }
            self.tell(item, queued, outcomes, probe).await?;
            if word == "empty" {
                return Ok(());
            }
        }
    }

    /// Takes or keeps the lead, and reads the units left and the first purchases; `None` where another writer leads, or the
    /// sale is closed.
    async fn lead(&self, item: &Name, token: &str, probe: &Probe) -> Result<Option<(i64, Vec<Queued>)>, Error> {
        let keys = keys(item);
        let mut lead = self.lead.key(Redis::stock_key(item));
        lead.key(Redis::orders_key(item))
            .key(keys.queue)
            .key(keys.writer)
            .key(ITEMS)
            .arg(token)
            .arg(self.lease.as_millis() as u64)
            .arg(MOST_AT_ONCE)
            .arg(item.as_str());
        let words = |(word, _, queued): &Led| format!("{word}, {} purchases", queued.len());
        let (word, left, entries) = probe.step(&LEAD, item, self.redis.run(&lead), words).await?;
        if word != "leads" {
            return Ok(None);
        }
        let queued: Result<_, _> = entries.into_iter().map(|entry| queued(item, entry)).collect();
        Ok(Some((left, queued?)))
    }

    /// Writes what was decided, if it still leads.
    async fn write(
        &self,
        item: &Name,
        token: &str,
        left: i64,
        (queued, outcomes): (&[Queued], &[Outcome]),
        probe: &Probe,
    ) -> Result<String, Error> {
        let keys = keys(item);
        let mut remaining = outcomes.iter().filter_map(|outcome| match outcome {
            Outcome::Sold { remaining } => Some(*remaining),
            _ => None,
        });
        let mut write = self.write.key(Redis::stock_key(item));
        write
            .key(Redis::orders_key(item))
            .key(keys.queue)
            .key(keys.writer)
            .key(keys.answers)
            .key(ITEMS)
            .arg(token)
            .arg(self.lease.as_millis() as u64)
            .arg(remaining.next_back().unwrap_or(left))
            .arg(item.as_str());
        for (queued, outcome) in queued.iter().zip(outcomes) {
            let (entry, answer) = match outcome {
                Outcome::Sold { remaining } => (queued.entry.as_str(), format!("sold {remaining}")),
                Outcome::Repeated(_) => ("", "repeated".to_owned()),
                _ => ("", "sold out".to_owned()),
            };
            let order = queued.purchase.order.to_string();
            write.arg(&queued.id).arg(order).arg(entry);
            write.arg(queued.ticket.to_string()).arg(answer);
        }
        probe.step(&WRITE, item, self.redis.run(&write), String::clone).await
    }

    /// Tells the purchases of this instance, and deletes their answers in Redis.
    async fn tell(&self, item: &Name, queued: Vec<Queued>, outcomes: Vec<Outcome>, probe: &Probe) -> Result<(), Error> {
        let mut told = Vec::new();
        for (queued, outcome) in queued.into_iter().zip(outcomes) {
            if self.waiting.tell(queued.ticket, Told::Outcome(outcome)) {
                told.push(queued.ticket.to_string());
            } else if u128::from(queued.age_ms) > self.lease.as_millis() {
                self.reconciled
                    .count(item, End::Finished, queued.age_ms, probe.counts());
            }
        }
        if told.is_empty() {
            return Ok(());
        }
        let mut command = cmd("HDEL");
        command.arg(keys(item).answers).arg(told);
        let words = |dropped: &u64| format!("{dropped} dropped");
        probe
            .step(&DROP_ANSWERS, item, self.redis.send(&command), words)
            .await?;
        Ok(())
    }
}

fn queued(item: &Name, (id, order, entry, ticket, before, age_ms): Entry) -> Result<Queued, Error> {
    Ok(Queued {
        id,
        purchase: Redis::purchase(item, &order, &entry)?,
        entry,
        ticket: ticket.parse().map_err(|error: uuid::Error| Error::Corrupt {
            store: Redis::NAME,
            what: error.to_string(),
        })?,
        before: Some(before).filter(|before| !before.is_empty()),
        age_ms,
    })
}
