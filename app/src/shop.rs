//! One instance put together: its stores, its catalogue, its settings, and the one way a purchase takes through them.

use std::io;
use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use tokio::sync::Semaphore;
use tokio_util::task::TaskTracker;

use crate::guards::Timeouts;
use crate::probe::{ArmedFaults, BadFault, Fault, Log, Observer, Observers, Probe, Step, Tracer};
use crate::sale::{Error, Name, Outcome, Purchase};
use crate::stores::Stores;
use crate::strategies::{self, Strategy};

/// Purchases in progress at one instance. Past that the answer is busy at once: a longer queue helps nobody.
const MAX_IN_PROGRESS: usize = 4_096;

/// What an instance is told at its start.
pub struct Settings {
    /// The instance's name, given in every answer.
    pub instance: Name,
    /// URL of Redis. May hold a password.
    pub redis_url: String,
    /// URL of MariaDB. May hold a password.
    pub sql_url: String,
    /// The bearer token of the admin listener and of faults.
    pub admin_token: String,
    /// Whether buyers may choose strategy, work time and faults by header.
    pub lab: bool,
    /// The strategy of a purchase that names none.
    pub strategy: String,
    /// The item of `/deduct_stock`.
    pub item: Name,
    /// Units the item is opened with, where no sale of it is open yet.
    pub stock: i64,
    /// How long to wait for a lock, and how long a lock lives.
    pub timeouts: Timeouts,
    /// Where traces are written, in a folder of this instance's own. Without one no sale can be traced.
    pub traces: Option<PathBuf>,
}

/// Why an instance cannot start.
#[derive(Debug, thiserror::Error)]
pub enum CannotOpen {
    /// A store does not answer.
    #[error(transparent)]
    Store(#[from] Error),
    /// The folder for traces cannot be used.
    #[error("the folder for traces: {0}")]
    Traces(#[from] io::Error),
    /// The configured strategy is not in the catalogue.
    #[error("no strategy is called {asked}; there are: {known}")]
    Strategy {
        /// What was asked for.
        asked: String,
        /// All there are.
        known: String,
    },
}

/// How a buyer wants to be served: the lab headers, or the configuration where there are none.
pub struct Service {
    /// By which strategy.
    pub strategy: Arc<dyn Strategy>,
    /// Business time between read and write.
    pub work: Duration,
    /// A fault for this purchase alone.
    pub fault: Option<Fault>,
}

/// A running instance.
pub struct Shop {
    /// The instance's name.
    pub instance: Name,
    /// Its stores.
    pub stores: Stores,
    /// Whether lab headers count.
    pub lab: bool,
    /// Every strategy, in the catalogue's order.
    pub catalogue: Vec<Arc<dyn Strategy>>,
    /// The strategy of a purchase that names none.
    pub strategy: Arc<dyn Strategy>,
    /// The item of `/deduct_stock`.
    pub item: Name,
    /// Faults armed for the process.
    pub faults: Arc<ArmedFaults>,
    /// Traces of sales, where there is a folder for them.
    pub tracer: Option<Arc<Tracer>>,
    observers: Observers,
    pub(crate) admin_token: String,
    in_progress: Arc<Semaphore>,
    purchases: TaskTracker,
    closing: AtomicBool,
}

impl Shop {
    /// Connects to the stores, lays the tables, opens the default sale.
    ///
    /// # Errors
    /// [`CannotOpen`]: a store does not answer, or the default strategy is unknown.
    pub async fn open(settings: Settings) -> Result<Self, CannotOpen> {
        let timeouts = settings.timeouts;
        let stores = Stores::connect(
            &settings.redis_url,
            &settings.sql_url,
            &settings.instance,
            timeouts.wait,
        )
        .await?;
        for stock in stores.all() {
            stock.open_if_absent(&settings.item, settings.stock).await?;
        }
        let faults = Arc::<ArmedFaults>::default();
        let tracer = settings.traces.map(Tracer::open).transpose()?.map(Arc::new);
        let mut observers: Vec<Arc<dyn Observer>> = vec![faults.clone(), Arc::new(Log)];
        // Last: what a fault prevented is in no trace, and what it struck after is.
        observers.extend(tracer.clone().map(|tracer| tracer as Arc<dyn Observer>));
        let observers = Observers::new(observers);
        let catalogue = strategies::catalogue(&stores, timeouts, &observers);
        let strategy = find(&catalogue, &settings.strategy).ok_or_else(|| CannotOpen::Strategy {
            known: known(&catalogue),
            asked: settings.strategy,
        })?;
        Ok(Self {
            instance: settings.instance,
            stores,
            lab: settings.lab,
            catalogue,
            strategy,
            item: settings.item,
            faults,
            tracer,
            observers,
            admin_token: settings.admin_token,
            in_progress: Arc::new(Semaphore::new(MAX_IN_PROGRESS)),
            purchases: TaskTracker::new(),
            closing: AtomicBool::new(false),
        })
    }

    /// The strategy of that name.
    pub fn find(&self, name: &str) -> Option<Arc<dyn Strategy>> {
        find(&self.catalogue, name)
    }

    /// The names of all strategies, for a message.
    pub fn known(&self) -> String {
        known(&self.catalogue)
    }

    /// Reads a fault that names a step of any strategy.
    ///
    /// # Errors
    /// [`BadFault`] when it is none.
    pub fn fault(&self, text: &str) -> Result<Fault, BadFault> {
        let steps: Vec<Step> = self.catalogue.iter().flat_map(|strategy| strategy.steps()).collect();
        Fault::parse(text, &steps)
    }

    /// Carries a purchase through, to its end even if the caller goes away: a sale that was begun must neither keep
    /// its lock nor lose its order because a buyer hung up.
    ///
    /// # Errors
    /// When a store fails: whether the sale took place is then unknown.
    pub async fn sell(&self, purchase: Purchase, service: Service) -> Result<Outcome, Error> {
        let Ok(place) = self.in_progress.clone().try_acquire_owned() else {
            return Ok(Outcome::Busy);
        };
        let probe = Probe::new(&purchase, service.work, service.fault, self.observers.clone());
        let sale = self.purchases.spawn(async move {
            let outcome = service.strategy.buy(&purchase, &probe).await;
            drop(place);
            match outcome {
                Err(error) if error.is_wait_ended() => Ok(Outcome::Busy),
                outcome => outcome,
            }
        });
        match sale.await {
            Ok(outcome) => outcome,
            Err(panic) => std::panic::resume_unwind(panic.into_panic()),
        }
    }

    /// Purchases in progress.
    pub fn in_progress(&self) -> usize {
        MAX_IN_PROGRESS - self.in_progress.available_permits()
    }

    /// From now on the instance calls itself not ready, so that whoever balances load sends nobody new.
    pub fn close(&self) {
        self.closing.store(true, Ordering::Relaxed);
        self.purchases.close();
    }

    /// Whether [`Shop::close`] was called.
    pub fn is_closing(&self) -> bool {
        self.closing.load(Ordering::Relaxed)
    }

    /// Waits for every purchase that was begun.
    pub async fn finish(&self) {
        self.purchases.wait().await;
    }
}

fn find(catalogue: &[Arc<dyn Strategy>], name: &str) -> Option<Arc<dyn Strategy>> {
    catalogue
        .iter()
        .find(|strategy| strategies::name(strategy.as_ref()) == name)
        .cloned()
}

fn known(catalogue: &[Arc<dyn Strategy>]) -> String {
    let names: Vec<_> = catalogue
        .iter()
        .map(|strategy| strategies::name(strategy.as_ref()))
        .collect();
    names.join(", ")
}
