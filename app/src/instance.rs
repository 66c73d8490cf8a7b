//! One instance: its environment, catalogue and settings, and the path of a purchase through them.

use std::io;
use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use tokio_util::task::TaskTracker;

use crate::complete_on_drop::CompleteOnDrop;
use crate::domain::{Error, Name, Outcome, Purchase};
use crate::probe::{ArmedFaults, BadFault, Counts, Fault, Log, Observer, Observers, Probe, Step, Tracer, WorkerFault};
use crate::reconciler::Pending;
use crate::services::Services;
use crate::stores::{self, SECOND_SQL, Stock};
use crate::strategies::{Catalogue, Listed};
use crate::timeouts::Timeouts;
use crate::world::World;

/// The most purchases in progress at one instance. Any further purchase is busy at once: a longer queue helps no buyer.
const MAX_IN_PROGRESS: usize = 4_096;

/// The name of a store that answers, and the store.
type Here = (&'static str, Arc<dyn Stock>);

/// The settings of an instance.
pub struct Settings {
    /// The instance's name, sent with every response.
    pub instance: Name,
    /// The URLs of the stores and of all other services.
    pub services: Services,
    /// The bearer token of the admin listener and of faults.
    pub admin_token: String,
    /// Whether buyers may choose strategy, work time and faults by header.
    pub lab: bool,
    /// The strategy of a purchase that names none.
    pub strategy: String,
    /// The item of `/deduct_stock`.
    pub item: Name,
    /// The units that the item is opened with, where no sale of it is open yet.
    pub stock: i64,
    /// The longest wait for a lock, and the lease of a lock.
    pub timeouts: Timeouts,
    /// The folder for traces, used by this instance alone. Without a folder no sale can be traced.
    pub traces: Option<PathBuf>,
}

/// The reasons why an instance cannot start.
#[derive(Debug, thiserror::Error)]
pub enum CannotOpen {
    /// A store does not answer.
    #[error(transparent)]
    Store(#[from] Error),
    /// The folder for traces cannot be used.
    #[error("cannot use the folder for traces: {0}")]
    Traces(#[from] io::Error),
    /// The configured strategy is not in the catalogue.
    #[error("no strategy is called {asked}; the strategies are: {known}")]
    Strategy {
        /// The configured name.
        asked: String,
        /// The names of all strategies.
        known: String,
    },
}

/// The order of an earlier delivery exists, but it is not final.
#[derive(Debug, thiserror::Error)]
#[error("the order may still be undone")]
struct MayBeTakenBack;

/// The way to serve a purchase, from the lab headers or else from the configuration.
pub struct Service {
    /// The strategy.
    pub strategy: Arc<Listed>,
    /// The business time between read and write.
    pub work: Duration,
    /// A fault for this purchase alone.
    pub fault: Option<Fault>,
}

/// A running instance.
pub struct Shop {
    /// The instance's name.
    pub instance: Name,
    /// The environment of its strategies.
    pub world: World,
    /// Whether lab headers are honoured.
    pub lab: bool,
    /// Every strategy, in the catalogue's order.
    pub catalogue: Catalogue,
    /// The strategy of a purchase that names none.
    pub strategy: Arc<Listed>,
    /// The item of `/deduct_stock`.
    pub item: Name,
    /// The faults that are armed for the process.
    pub faults: Arc<ArmedFaults>,
    /// The fault that waits for a background worker.
    pub worker_fault: Arc<WorkerFault>,
    /// The traces of sales, where a folder for them is configured.
    pub tracer: Option<Arc<Tracer>>,
    pub(crate) admin_token: String,
    purchases: TaskTracker,
    closing: AtomicBool,
}

impl Shop {
    /// Connects to the stores, creates the tables, opens the default sale.
    ///
    /// # Errors
    /// [`CannotOpen`] when a store does not answer, the folder for traces cannot be used, or the default strategy is
    /// unknown.
    pub async fn open(settings: Settings) -> Result<Self, CannotOpen> {
        let (faults, worker_fault) = (Arc::<ArmedFaults>::default(), Arc::<WorkerFault>::default());
        let tracer = settings.traces.map(Tracer::open).transpose()?.map(Arc::new);
        let mut observers: Vec<Arc<dyn Observer>> = vec![faults.clone(), worker_fault.clone(), Arc::new(Log)];
        // The tracer is the last: a step that a fault prevented is not traced, and a step that a fault followed is.
        observers.extend(tracer.clone().map(|tracer| tracer as Arc<dyn Observer>));
        let world = World::open(
            settings.services,
            settings.instance.clone(),
            settings.timeouts,
            Observers::new(observers),
        )
        .await?;
        for (_, stock) in world.all_stores().await {
            stock.open_if_absent(&settings.item, settings.stock).await?;
        }
        let catalogue = Catalogue::new();
        let strategy = catalogue.find(&settings.strategy).cloned();
        let strategy = strategy.ok_or_else(|| CannotOpen::Strategy {
            known: catalogue.names(),
            asked: settings.strategy,
        })?;
        strategy.opened(&world).await?;
        Ok(Self {
            instance: settings.instance,
            world,
            lab: settings.lab,
            catalogue,
            strategy,
            item: settings.item,
            faults,
            worker_fault,
            tracer,
            admin_token: settings.admin_token,
            purchases: TaskTracker::new(),
            closing: AtomicBool::new(false),
        })
    }

    /// Parses a fault. It may name a step of any strategy.
    ///
    /// # Errors
    /// [`BadFault`] when the text is not a fault.
    pub fn fault(&self, text: &str) -> Result<Fault, BadFault> {
        let listed = self.catalogue.iter();
        let steps: Vec<Step> = listed.flat_map(|listed| listed.entry.steps.iter().copied()).collect();
        Fault::parse(text, &steps)
    }

    /// Opens a sale in every store with an empty ledger. An earlier sale of the item is deleted.
    ///
    /// # Errors
    /// When a store does not answer.
    pub async fn open_sale(&self, item: &Name, stock: i64) -> Result<(), Error> {
        let stores = self.world.all_stores().await;
        self.forget(item, &stores).await?;
        for (_, store) in stores {
            store.open(item, stock).await?;
        }
        Ok(())
    }

    /// Deletes a sale and its ledger in every store, and everything that strategies keep of it.
    ///
    /// # Errors
    /// When a store does not answer.
    pub async fn close_sale(&self, item: &Name) -> Result<(), Error> {
        let stores = self.world.all_stores().await;
        for (_, store) in &stores {
            store.close(item).await?;
        }
        self.forget(item, &stores).await
    }

    /// Returns the pending purchases of an item, over all strategies: see [`Pending`].
    ///
    /// # Errors
    /// When a store does not answer.
    pub async fn pending(&self, item: &Name) -> Result<Pending, Error> {
        let mut pending = Pending::default();
        let stores = self.world.all_stores().await;
        for listed in self.remembering(&stores) {
            pending += listed.opened(&self.world).await?.pending(item).await?;
        }
        Ok(pending)
    }

    async fn forget(&self, item: &Name, stores: &[Here]) -> Result<(), Error> {
        for listed in self.remembering(stores) {
            listed.opened(&self.world).await?.forget(item).await?;
        }
        Ok(())
    }

    /// Returns the strategies that may keep something of an item: those that are open here, and those whose services
    /// are all connected stores, because another instance may have taken a lock there. A further service is not
    /// connected to for this: its locks end with their lease or session. A strategy that sells from a store which is not
    /// among `stores` is left out, so that it does not prevent others from opening a sale.
    fn remembering(&self, stores: &[Here]) -> impl Iterator<Item = &Arc<Listed>> {
        let is_here = |need: &&str| stores.iter().any(|(name, _)| name == need);
        self.catalogue.iter().filter(move |listed| {
            let needs = &listed.entry.needs;
            let is_store = |need: &&str| *need == SECOND_SQL || stores::ALL.iter().any(|store| store.name == *need);
            let is_cut_off = needs.iter().any(|need| is_store(need) && !is_here(need));
            !is_cut_off && (listed.is_open() || needs.iter().all(is_here))
        })
    }

    /// Carries out a purchase, to its end even if the caller goes away: a purchase that has begun must not keep its
    /// lock or lose its order because the buyer closed the connection.
    ///
    /// # Errors
    /// When a store fails: it is then unknown whether the sale took place.
    pub async fn sell(&self, purchase: Purchase, service: Service) -> Result<Outcome, Error> {
        let strategy = match service.strategy.opened(&self.world).await {
            Ok(strategy) => strategy.clone(),
            // The purchase has not begun. The next purchase tries again to open the strategy.
            Err(error) => {
                tracing::warn!(%error, strategy = service.strategy.entry.name, "not opened");
                return Ok(Outcome::Busy);
            }
        };
        if self.in_progress() >= MAX_IN_PROGRESS {
            return Ok(Outcome::Busy);
        }
        let probe = Probe::new(&purchase, service.work, service.fault, self.world.observers.clone());
        let wanted = purchase.clone();
        let sale = CompleteOnDrop::new(self.purchases.track_future(async move {
            match strategy.buy(&purchase, &probe).await {
                Err(error) if error.changed_nothing() => Ok(Outcome::Busy),
                outcome => outcome,
            }
        }));
        match sale.await {
            // Boxed, because few purchases need this future, and each would have to carry its size.
            Ok(Outcome::Busy) => Box::pin(self.sold_before(&wanted, &service.strategy)).await,
            outcome => outcome,
        }
    }

    /// Returns the outcome of a purchase that was busy. An earlier delivery of it may have been sold while its response
    /// was lost; then its buyer must not be refused.
    async fn sold_before(&self, purchase: &Purchase, strategy: &Listed) -> Result<Outcome, Error> {
        if purchase.key.is_none() {
            return Ok(Outcome::Busy);
        }
        let nobody_looks = Observers::new(Vec::new());
        let probe = Probe::new(purchase, Duration::ZERO, None, nobody_looks);
        let store = strategy.entry.store;
        let orders = self.world.orders(store).await?;
        match orders.read(purchase, &probe).await {
            Ok(found) => match found.and_then(|found| found.order) {
                None => Ok(Outcome::Busy),
                Some(order) => match strategy.opened(&self.world).await?.may_take_back(purchase).await {
                    Ok(false) => Ok(Outcome::Repeated(order)),
                    Ok(true) => Err(Error::failed(store, MayBeTakenBack)),
                    Err(error) => Err(Error::failed(store, error)),
                },
            },
            // Nothing was changed: the buyer may retry, as after any other busy response.
            Err(error) if error.changed_nothing() => Ok(Outcome::Busy),
            Err(error) => Err(error),
        }
    }

    /// Returns the number of purchases in progress.
    pub fn in_progress(&self) -> usize {
        self.purchases.len()
    }

    /// Returns what it counts of its locks and reconcilers.
    pub fn counts(&self) -> &Counts {
        self.world.observers.counts()
    }

    /// Makes the instance not ready from now on, so that load balancers send it no new requests.
    pub fn close(&self) {
        self.closing.store(true, Ordering::Relaxed);
        self.purchases.close();
    }

    /// Returns whether [`Shop::close`] was called.
    pub fn is_closing(&self) -> bool {
        self.closing.load(Ordering::Relaxed)
    }

    /// Waits until no purchase is in progress.
    pub async fn finish(&self) {
        self.purchases.wait().await;
    }
}
