//! A whole catalogue under observation: the steps at the seam, and the commands that the stores received.

use std::path::PathBuf;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use app::domain::{Outcome, Purchase};
use app::probe::{Actor, Observer, Observers, Probe, Step, StepContext, StepResult};
use app::stores::sql::CONNECT;
use app::strategies::{Catalogue, Listed};
use app::timeouts::Timeouts;
use app::world::World;
use async_trait::async_trait;
use stack::{ServiceKind, Stores};
use tokio::sync::Semaphore;

use crate::counters::is_counted;
use crate::harness::{fresh, is_tried, name, services, services_of_its_own, world};
use crate::received::{Commands, Received};

/// The most commands of workers that are on their way at a time.
const WORKERS: u32 = 1_000;

/// Writes down each step at the seam.
struct Seen {
    passed: Mutex<Vec<Seeing>>,
    /// A command of a worker needs one of these: with all of them, none is on its way.
    workers: Semaphore,
}

#[derive(Clone, Debug, PartialEq)]
pub struct Seeing {
    pub step: Step,
    pub key: String,
    /// Whether a purchase or the renewal of its lease took it; otherwise a worker did.
    pub by_purchase: bool,
    /// The result; none while it is on its way.
    pub said: Option<String>,
}

impl Seen {
    fn take(&self) -> Vec<Seeing> {
        std::mem::take(&mut *self.passed.lock().unwrap_or_else(PoisonError::into_inner))
    }

    fn note(&self, passing: &StepContext<'_>, said: Option<&StepResult>) {
        let seeing = Seeing {
            step: *passing.step,
            key: passing.key.to_string(),
            by_purchase: !matches!(passing.actor, Actor::Worker(_)),
            said: said.map(|said| said.words.to_string()),
        };
        self.passed.lock().unwrap_or_else(PoisonError::into_inner).push(seeing);
    }
}

/// Whether a worker sends something.
fn is_workers_command(passing: &StepContext<'_>) -> bool {
    let is_sent = !passing.step.sends.is_empty() || passing.step.name == CONNECT.name;
    is_sent && matches!(passing.actor, Actor::Worker(_))
}

#[async_trait]
impl Observer for Seen {
    fn observes(&self, _actor: &Actor) -> bool {
        true
    }

    async fn before(&self, passing: &StepContext<'_>) {
        if is_workers_command(passing) {
            self.workers.acquire().await.unwrap().forget();
        }
        self.note(passing, None);
    }

    async fn after(&self, passing: &StepContext<'_>, said: &StepResult) {
        self.note(passing, Some(said));
        if is_workers_command(passing) {
            self.workers.add_permits(1);
        }
    }
}

/// A whole catalogue under observation, and the logs of the stores.
pub struct Observed {
    world: World,
    seen: Arc<Seen>,
    // Open to the end: no worker is ever stopped in the middle of a command.
    catalogue: Catalogue,
    received: Received,
    // Dropped last.
    _servers: Arc<stack::Stores>,
}

/// The log of PostgreSQL, where it could be started.
fn pg_log(servers: &Stores) -> Option<PathBuf> {
    let pg = servers.processes(ServiceKind::Pg).first();
    pg.map(|pg| pg.log().path)
}

impl Observed {
    pub async fn start(timeouts: Timeouts) -> Self {
        let servers = services_of_its_own();
        let seen = Arc::new(Seen {
            passed: Mutex::default(),
            workers: Semaphore::new(WORKERS as usize),
        });
        let observers = Observers::new(vec![seen.clone()]);
        Self {
            world: world(&services(&servers), "app-1", timeouts, observers).await,
            received: Received::start(&services(&servers), pg_log(&servers)).await,
            seen,
            catalogue: Catalogue::new(),
            _servers: servers,
        }
    }

    /// Opens a sale of a new item, and names it.
    pub async fn sale(&self, stock: i64) -> String {
        let item = fresh("sku");
        for (_, store) in self.world.all_stores().await {
            store.open(&name(&item), stock).await.unwrap();
        }
        item
    }

    /// The strategies that can be used here.
    pub fn usable(&self) -> Vec<Arc<Listed>> {
        let usable = self
            .catalogue
            .iter()
            .filter(|listed| is_tried(listed.entry.mechanism.name))
            .filter(|listed| listed.entry.missing(&self.world.services).is_none());
        usable.cloned().collect()
    }

    /// Each key is another buyer's.
    pub async fn buy(&self, listed: &Listed, item: &str, key: &str, work: Duration) -> Outcome {
        let purchase = Purchase::new(name(item), 1, name(&format!("b-{key}")), Some(name(key)));
        let probe = Probe::new(&purchase, work, None, self.world.observers.clone());
        let strategy = listed.opened(&self.world).await.unwrap();
        match strategy.buy(&purchase, &probe).await {
            // As the shop takes it.
            Err(error) if error.changed_nothing() => Outcome::Busy,
            outcome => outcome.unwrap(),
        }
    }

    /// The steps since the last call.
    pub async fn steps(&self) -> Vec<Seeing> {
        let _all = self.seen.workers.acquire_many(WORKERS).await.unwrap();
        self.seen.take()
    }

    /// The steps since the last call, and the commands that were received since the last call of this. Those that are only counted
    /// are asked for if a step sends one or with `all`; otherwise the next call has them.
    pub async fn since(&mut self, all: bool) -> (Vec<Seeing>, Commands) {
        let _all = self.seen.workers.acquire_many(WORKERS).await.unwrap();
        let seen = self.seen.take();
        let counted = seen
            .iter()
            .flat_map(|seeing| seeing.step.sends)
            .any(|command| is_counted(command));
        (seen, self.received.since(all || counted).await)
    }
}
