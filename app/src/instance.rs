//! One instance put together: its world, its catalogue, its settings, and the one way a purchase takes through them.

use std::io;
use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use tokio_util::task::TaskTracker;

use crate::complete_on_drop::CompleteOnDrop;
use crate::domain::{Error, Name, Outcome, Purchase};
use crate::probe::{ArmedFaults, BadFault, Fault, Log, Observer, Observers, Probe, Step, Tracer};
use crate::reconciler::Pending;
use crate::services::Services;
use crate::stores::{SECOND_SQL, Stock};
use crate::strategies::{Catalogue, Listed};
use crate::timeouts::Timeouts;
use crate::world::World;

/// Purchases in progress at one instance. Past that the answer is busy at once: a longer queue helps nobody.
const MAX_IN_PROGRESS: usize = 4_096;

/// A store that answers, and its name.
type Here = (&'static str, Arc<dyn Stock>);

/// What an instance is told at its start.
pub struct Settings {
    /// The instance's name, given in every answer.
    pub instance: Name,
    /// Where the stores are, and what else strategies need.
    pub services: Services,
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

/// Why it is not known whether a purchase was sold before.
#[derive(Debug, thiserror::Error)]
#[error("its order may still be taken back")]
struct MayBeTakenBack;

/// How a buyer wants to be served: the lab headers, or the configuration where there are none.
pub struct Service {
    /// By which strategy.
    pub strategy: Arc<Listed>,
    /// Business time between read and write.
    pub work: Duration,
    /// A fault for this purchase alone.
    pub fault: Option<Fault>,
}

/// A running instance.
pub struct Shop {
    /// The instance's name.
    pub instance: Name,
    /// What its strategies find around them.
    pub world: World,
    /// Whether lab headers count.
    pub lab: bool,
    /// Every strategy, in the catalogue's order.
    pub catalogue: Catalogue,
    /// The strategy of a purchase that names none.
    pub strategy: Arc<Listed>,
    /// The item of `/deduct_stock`.
    pub item: Name,
    /// Faults armed for the process.
    pub faults: Arc<ArmedFaults>,
    /// Traces of sales, where there is a folder for them.
    pub tracer: Option<Arc<Tracer>>,
    pub(crate) admin_token: String,
    purchases: TaskTracker,
    closing: AtomicBool,
}

impl Shop {
    /// Connects to the stores, lays the tables, opens the default sale.
    ///
    /// # Errors
    /// [`CannotOpen`]: a store does not answer, or the default strategy is unknown.
    pub async fn open(settings: Settings) -> Result<Self, CannotOpen> {
        let faults = Arc::<ArmedFaults>::default();
        let tracer = settings.traces.map(Tracer::open).transpose()?.map(Arc::new);
        let mut observers: Vec<Arc<dyn Observer>> = vec![faults.clone(), Arc::new(Log)];
        // Last: what a fault prevented is in no trace, and what it struck after is.
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
            tracer,
            admin_token: settings.admin_token,
            purchases: TaskTracker::new(),
            closing: AtomicBool::new(false),
        })
    }

    /// Reads a fault that names a step of any strategy.
    ///
    /// # Errors
    /// [`BadFault`] when it is none.
    pub fn fault(&self, text: &str) -> Result<Fault, BadFault> {
        let listed = self.catalogue.iter();
        let steps: Vec<Step> = listed.flat_map(|listed| listed.entry.steps.iter().copied()).collect();
        Fault::parse(text, &steps)
    }

    /// Opens a sale in every store with an empty ledger, forgetting what was there.
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

    /// Forgets a sale and its ledger in every store, and what strategies keep of it.
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

    /// What is pending of an item, over all strategies: see [`Pending`].
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

    /// The strategies that may keep something of an item. A lock that was taken by another instance counts, too; but nobody
    /// connects to a further service only to ask what is there, which ends with its lease or its session. One whose second
    /// server is not among `stores` does not keep the others from opening a sale.
    fn remembering(&self, stores: &[Here]) -> impl Iterator<Item = &Arc<Listed>> {
        let is_here = |need: &&str| stores.iter().any(|(name, _)| name == need);
        self.catalogue.iter().filter(move |listed| {
            let needs = &listed.entry.needs;
            let is_cut_off = needs.contains(&SECOND_SQL) && !is_here(&SECOND_SQL);
            !is_cut_off && (listed.is_open() || needs.iter().all(is_here))
        })
    }

    /// Carries a purchase through, to its end even if the caller goes away: a sale that was begun must neither keep
    /// its lock nor lose its order because a buyer hung up.
    ///
    /// # Errors
    /// When a store fails: whether the sale took place is then unknown.
    pub async fn sell(&self, purchase: Purchase, service: Service) -> Result<Outcome, Error> {
        let strategy = match service.strategy.opened(&self.world).await {
            Ok(strategy) => strategy.clone(),
            // Nothing was begun, and the next purchase tries again.
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
            // In a box: every purchase would have to carry the room for what few of them need.
            Ok(Outcome::Busy) => Box::pin(self.sold_before(&wanted, &service.strategy)).await,
            outcome => outcome,
        }
    }

    /// What to answer who found no way to the stock: a purchase may have been sold by a delivery before this one, whose answer
    /// was lost, and its buyer must not take it for refused.
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
            // Whoever is too many here comes again, as everywhere.
            Err(error) if error.changed_nothing() => Ok(Outcome::Busy),
            Err(error) => Err(error),
        }
    }

    /// Purchases in progress.
    pub fn in_progress(&self) -> usize {
        self.purchases.len()
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
