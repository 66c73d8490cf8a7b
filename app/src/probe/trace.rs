//! The trace: the steps of a sale with their actor, begin, end and response.
//!
//! An event is one line, appended to a file by one call to write: the kernel then holds it, and no SIGKILL loses it.
//! The clock is shared by all processes of a host.

use std::collections::HashMap;
use std::fs::{self, File, OpenOptions};
use std::io::{self, Write};
use std::path::PathBuf;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, PoisonError, RwLock};

use async_trait::async_trait;
use nix::time::{ClockId, clock_gettime};
use serde::{Deserialize, Serialize};
use uuid::Uuid;

use super::{Actor, Observer, StepContext, StepResult, StepValue};
use crate::domain::Name;

/// The longest trace of one sale, in bytes. Later events are dropped and counted.
const MAX_BYTES: u64 = 48 * 1024 * 1024;

/// The most sales that can be traced at once.
const MAX_TRACED: usize = 64;

/// One side of a step.
#[derive(Debug, Serialize, Deserialize)]
pub struct Event {
    /// Nanoseconds of CLOCK_MONOTONIC.
    pub at_ns: u64,
    /// The life of the instance, new after each start. The numbers of purchases restart with it.
    pub life: Uuid,
    /// `purchase`, `renewal` for the task that renews its lease, or the name of a worker for all purchases.
    pub actor: String,
    /// The number of the purchase in this life; 0 for a worker.
    pub number: u64,
    /// The id that the order has or would have; null for a worker.
    pub order: Option<Uuid>,
    /// The buyer; null for a worker.
    pub buyer: Option<String>,
    /// The step, as its strategy names it.
    pub step: String,
    /// Its role: `lock`, `permit`, `read`, `write`, `record`, `commit`, `release`, `renew`; null for any other step.
    pub role: Option<String>,
    /// The object of the step: a Redis key, an item, a channel.
    pub key: String,
    /// The response, in a few words; null where the step begins.
    #[serde(rename = "said")]
    pub result: Option<String>,
    /// The value that the response contains; null where there is none.
    pub value: Option<StepValue>,
}

/// The trace of a sale at this instance.
#[derive(Debug, Default, Serialize)]
pub struct Trace {
    /// The clock of `at_ns`.
    pub clock: &'static str,
    /// Events of this life that exceeded the limit or could not be written.
    pub dropped: u64,
    /// The events, in the order of writing.
    pub events: Vec<Event>,
}

/// The traced sales of one instance: each is a file in the instance's own folder.
pub struct Tracer {
    folder: PathBuf,
    life: Uuid,
    any: AtomicBool,
    sales: RwLock<HashMap<Name, Arc<Sale>>>,
}

struct Sale {
    file: File,
    bytes: AtomicU64,
    dropped: AtomicU64,
}

impl Tracer {
    /// Opens `folder` for traces. No other instance may use it. Traces of an earlier life continue.
    ///
    /// # Errors
    /// When the folder cannot be made or read.
    pub fn open(folder: PathBuf) -> io::Result<Self> {
        fs::create_dir_all(&folder)?;
        let tracer = Self {
            life: Uuid::new_v4(),
            any: AtomicBool::new(false),
            sales: RwLock::default(),
            folder,
        };
        for entry in fs::read_dir(&tracer.folder)? {
            let file = entry?.file_name();
            let item = file.to_str().and_then(|file| file.strip_suffix(".trace"));
            if let Some(item) = item.and_then(|item| Name::parse(item).ok()) {
                tracer.follow(&item)?;
            }
        }
        Ok(tracer)
    }

    /// Starts the trace of a sale and deletes an earlier one. Returns false when too many sales are traced already.
    ///
    /// # Errors
    /// When the file cannot be written, or an earlier one cannot be deleted.
    pub fn start(&self, item: &Name) -> io::Result<bool> {
        self.forget(item)?;
        if self.sales().len() >= MAX_TRACED {
            return Ok(false);
        }
        self.follow(item)?;
        Ok(true)
    }

    /// Ends the trace of a sale and deletes its file.
    ///
    /// # Errors
    /// When the file cannot be deleted.
    pub fn forget(&self, item: &Name) -> io::Result<()> {
        let mut sales = self.sales.write().unwrap_or_else(PoisonError::into_inner);
        if sales.remove(item).is_some() {
            fs::remove_file(self.path(item))?;
        }
        self.any.store(!sales.is_empty(), Ordering::Relaxed);
        Ok(())
    }

    /// Returns the trace of a sale so far; `None` when it is not traced.
    ///
    /// # Errors
    /// When the file cannot be read.
    pub fn read(&self, item: &Name) -> io::Result<Option<Trace>> {
        let Some(sale) = self.sales().get(item).cloned() else {
            return Ok(None);
        };
        let lines = fs::read_to_string(self.path(item))?;
        let events = lines.lines().filter_map(|line| serde_json::from_str(line).ok());
        Ok(Some(Trace {
            clock: "CLOCK_MONOTONIC",
            dropped: sale.dropped.load(Ordering::Relaxed),
            events: events.collect(),
        }))
    }

    fn path(&self, item: &Name) -> PathBuf {
        self.folder.join(format!("{item}.trace"))
    }

    fn sales(&self) -> std::sync::RwLockReadGuard<'_, HashMap<Name, Arc<Sale>>> {
        self.sales.read().unwrap_or_else(PoisonError::into_inner)
    }

    fn follow(&self, item: &Name) -> io::Result<()> {
        let file = OpenOptions::new().append(true).create(true).open(self.path(item))?;
        let sale = Sale {
            bytes: AtomicU64::new(file.metadata()?.len()),
            dropped: AtomicU64::new(0),
            file,
        };
        let mut sales = self.sales.write().unwrap_or_else(PoisonError::into_inner);
        sales.insert(item.clone(), Arc::new(sale));
        self.any.store(true, Ordering::Relaxed);
        Ok(())
    }

    fn note(&self, context: &StepContext<'_>, result: Option<&StepResult>) {
        let Some(sale) = context.actor.item().and_then(|item| self.sales().get(item).cloned()) else {
            return;
        };
        let (actor, attempt) = match context.actor {
            Actor::Purchase(attempt) => ("purchase", Some(attempt)),
            Actor::Renewal(attempt) => ("renewal", Some(attempt)),
            Actor::Worker(worker) => (worker.name, None),
        };
        sale.write(&Event {
            at_ns: now_ns(),
            life: self.life,
            actor: actor.to_owned(),
            number: context.actor.number(),
            order: attempt.map(|attempt| attempt.order),
            buyer: attempt.map(|attempt| attempt.buyer.to_string()),
            step: context.step.name.to_owned(),
            role: context.step.role.map(|role| role.name().to_owned()),
            key: context.key.to_string(),
            result: result.map(|result| result.words.to_string()),
            value: result.and_then(|result| result.value),
        });
    }
}

impl Sale {
    fn write(&self, event: &Event) {
        let mut line = serde_json::json!(event).to_string();
        line.push('\n');
        let length = line.len() as u64;
        let is_room = self.bytes.fetch_add(length, Ordering::Relaxed) + length <= MAX_BYTES;
        if !is_room || (&self.file).write_all(line.as_bytes()).is_err() {
            self.dropped.fetch_add(1, Ordering::Relaxed);
        }
    }
}

/// Returns the time of the host's monotonic clock, which no change of the date affects.
fn now_ns() -> u64 {
    clock_gettime(ClockId::CLOCK_MONOTONIC)
        .map(|now| now.tv_sec() as u64 * 1_000_000_000 + now.tv_nsec() as u64)
        .unwrap_or_default()
}

#[async_trait]
impl Observer for Tracer {
    fn observes(&self, actor: &Actor) -> bool {
        self.any.load(Ordering::Relaxed) && actor.item().is_some_and(|item| self.sales().contains_key(item))
    }

    async fn before(&self, context: &StepContext<'_>) {
        self.note(context, None);
    }

    async fn after(&self, context: &StepContext<'_>, result: &StepResult) {
        self.note(context, Some(result));
    }
}
