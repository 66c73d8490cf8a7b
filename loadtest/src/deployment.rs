//! Whose shop is on trial: our own, started here in any number of instances, or one that runs elsewhere.

use std::collections::HashMap;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use anyhow::{Context, Result, bail};
use stack::ServerKind;
use tokio::time::{sleep, timeout};

use crate::facts::{Place, Urls};
use crate::instances::{DeathWatch, Instances, StallWatch};
use crate::need::Need;
use crate::pending::PendingSale;
use crate::plan::Round;
use crate::shop::{Address, BACK_WITHIN, ShopClient};
use crate::trace::SaleTrace;

/// How often a foreign shop's missing instances are looked for.
const LOOK_EVERY: Duration = Duration::from_millis(50);

/// Where rounds can be played.
pub enum Deployment {
    /// Shops that are started here, one for each number of instances.
    Local(Box<Local>),
    /// One shop that runs elsewhere.
    Foreign(Foreign),
}

/// Our own shops, over one pair of stores.
pub struct Local {
    /// The stores that all shops share.
    pub stores: Arc<stack::Stores>,
    /// How an instance is started.
    pub options: stack::ShopOptions,
    /// Where the witness reads.
    pub urls: Urls,
    /// The token that the instances were given.
    pub admin_token: String,
    /// The shops started so far, by number of instances, by the servers that relays stand before, and by whether the proxy
    /// asks the next instance whatever happened.
    pub running: HashMap<(usize, Vec<ServerKind>, bool), RunningShop>,
}

/// A shop that somebody else runs.
pub struct Foreign {
    /// The shop, with as many instances as answer.
    pub running: RunningShop,
    /// Its stores.
    pub urls: Urls,
}

/// A shop with the number of instances that a round asks for.
#[derive(Clone)]
pub struct RunningShop {
    /// The shop, seen through its contract.
    pub client: ShopClient,
    /// How many instances it has.
    pub count: usize,
    instances: Instances,
    ours: Option<Ours>,
    /// As many instances as ever named themselves behind the public listener at one time.
    named: Arc<AtomicUsize>,
}

/// What of a shop was started here, with all that can be done to it.
#[derive(Clone)]
pub struct Ours {
    /// The instances, the proxy, and the relays that were asked for.
    pub shop: Arc<stack::Shop>,
    /// The stores; some of them may run elsewhere.
    pub stores: Arc<stack::Stores>,
}

impl Deployment {
    /// A shop that runs elsewhere, over as many instances as answer at its admin URLs.
    ///
    /// # Errors
    /// When nobody answers there, or the HTTP client cannot be built.
    pub async fn foreign(at: Address, admins: Vec<String>, urls: Urls) -> Result<Self> {
        let instances = Instances::at(admins)?;
        let count = instances.answering().await;
        if count == 0 {
            bail!("nobody answers at {}: is a shop running there?", instances.urls());
        }
        let client = ShopClient::new(at)?;
        let running = RunningShop::new(client, count, instances, None);
        Ok(Self::Foreign(Foreign { running, urls }))
    }

    /// Where the witness reads.
    pub fn urls(&self) -> Urls {
        match self {
            Self::Local(local) => local.urls.clone(),
            Self::Foreign(foreign) => foreign.urls.clone(),
        }
    }

    /// Why this round cannot be played here, if it cannot.
    pub fn why_not(&self, round: &Round) -> Option<String> {
        let Round { strategy, threat, .. } = round;
        let missing = strategy.missing.clone();
        missing
            .or_else(|| self.lacks(round.instances, &threat.needs(strategy)))
            .or_else(|| self.unread(strategy.store))
    }

    /// Why what a strategy keeps there cannot be read, if it cannot.
    fn unread(&self, place: Place) -> Option<String> {
        let urls = self.urls();
        let unread = [place.stock, place.orders]
            .into_iter()
            .find(|store| !urls.contains_key(store));
        unread.map(|store| format!("its ledger cannot be read: --{store} is not given"))
    }

    /// Why no round can be played on that many instances, with all that it needs, if none can.
    fn lacks(&self, wanted: usize, needs: &[Need]) -> Option<String> {
        let missing = match self {
            Self::Foreign(Foreign { running, .. }) if running.count != wanted => {
                return Some(format!("the shop runs on {} instances, not on {wanted}", running.count));
            }
            Self::Foreign(_) => needs.first(),
            Self::Local(local) => needs.iter().find(|need| !local.has(**need)),
        };
        missing.map(|need| format!("it needs {need}"))
    }

    /// A shop of that many instances, with the relays that are needed, started if it is not running yet. A foreign one is
    /// as it is.
    ///
    /// # Errors
    /// When it cannot be started.
    pub fn running(&mut self, wanted: usize, needs: &[Need]) -> Result<RunningShop> {
        match self {
            Self::Local(local) => local.running(wanted, needs),
            Self::Foreign(foreign) => Ok(foreign.running.clone()),
        }
    }

    /// Heals every shop that runs here. They share their stores: what befell those in a round of one shop befell the
    /// connections of all, also of those that nobody has bought at since.
    ///
    /// # Errors
    /// When one does not come back in time.
    pub async fn heal(&self) -> Result<()> {
        match self {
            Self::Local(local) => {
                for shop in local.running.values() {
                    shop.heal().await?;
                }
                Ok(())
            }
            Self::Foreign(foreign) => foreign.running.heal().await,
        }
    }
}

impl Local {
    fn has(&self, need: Need) -> bool {
        match need {
            Need::Instances | Need::RetryingProxy => true,
            Need::Service(kind) | Need::Relay(kind) => service(&self.stores, kind).is_some(),
            Need::Clocks => {
                let stores = [self.stores.redis(), self.stores.mariadb()];
                stores
                    .iter()
                    .all(|store| store.is_some_and(|store| store.clock().is_some()))
            }
        }
    }

    fn running(&mut self, count: usize, needs: &[Need]) -> Result<RunningShop> {
        let mut options = self.options.clone();
        options.instances = count;
        // Always in one order, each once: it is what the shop is found by.
        let is_relayed = |kind: &ServerKind| needs.iter().any(|need| need.relay() == Some(*kind));
        options.relays = ServerKind::ALL.into_iter().filter(is_relayed).collect();
        options.retrying = needs.contains(&Need::RetryingProxy);
        let key = (count, options.relays.clone(), options.retrying);
        if let Some(running) = self.running.get(&key) {
            return Ok(running.clone());
        }
        let shop = self.stores.shop(&options)?;
        let admins = shop.admins();
        let client = ShopClient::new(Address {
            host: shop.host(),
            admin: admins.first().cloned().context("a shop without instances")?,
            admin_token: self.admin_token.clone(),
        })?;
        let ours = Ours {
            shop: Arc::new(shop),
            stores: self.stores.clone(),
        };
        let running = RunningShop::new(client, count, Instances::at(admins)?, Some(ours));
        self.running.insert(key, running.clone());
        Ok(running)
    }
}

impl Ours {
    fn heal(&self) -> Result<()> {
        self.shop.pass_all();
        // Those of the stores stay as they are: a clock of theirs that went back would be another threat.
        for clock in self.shop.instances().iter().filter_map(stack::Service::clock) {
            clock.set_right()?;
        }
        let stores = ServerKind::ALL
            .into_iter()
            .filter_map(|kind| service(&self.stores, kind));
        for store in stores.filter(|store| store.has_exited()) {
            store.restart()?;
            store.wait_ready(BACK_WITHIN)?;
        }
        self.shop.revive().map(drop)
    }
}

/// The process of a store or of a lock service, if it was started here.
fn service(stores: &stack::Stores, kind: ServerKind) -> Option<&stack::Service> {
    match kind {
        ServerKind::Redis => stores.redis(),
        ServerKind::MariaDb => stores.mariadb(),
        ServerKind::ZooKeeper => stores.processes("zookeeper").first(),
        ServerKind::Etcd => stores.processes("etcd").first(),
        ServerKind::Nginx => None,
    }
}

impl RunningShop {
    fn new(client: ShopClient, count: usize, instances: Instances, ours: Option<Ours>) -> Self {
        Self {
            client,
            count,
            instances,
            ours,
            named: Arc::default(),
        }
    }

    /// What of it was started here: nothing where somebody else runs it.
    pub fn ours(&self) -> Option<&Ours> {
        self.ours.as_ref()
    }

    /// Where each instance is bought at, past the proxy; the proxy alone where somebody else runs the shop.
    pub fn publics(&self) -> Vec<String> {
        match &self.ours {
            Some(ours) => ours.shop.publics(),
            None => vec![self.client.at.host.clone()],
        }
    }

    /// How many instances answer at their admin listeners at this moment.
    pub async fn answering(&self) -> usize {
        self.instances.answering().await
    }

    /// Begins to watch for the death of an instance.
    pub async fn watch(&self) -> DeathWatch {
        self.instances.watch().await
    }

    /// Begins to watch for an instance that stands still.
    pub async fn watch_stalls(&self) -> StallWatch {
        self.instances.watch_stalls().await
    }

    /// Has every instance write down what it does for a sale; `None` where one of them does not know how.
    pub async fn trace(&self, item: &str) -> Option<SaleTrace> {
        let admins = self.instances.admins().await.into_iter().collect();
        SaleTrace::begin(self.client.clone(), admins, self.count, item).await
    }

    /// What is in between of a sale, to be asked for at every instance.
    pub async fn pending(&self, items: &[&str]) -> Vec<PendingSale> {
        let admins: Vec<String> = self.instances.admins().await.into_iter().collect();
        let sales = items.iter();
        sales
            .map(|item| PendingSale::new(self.client.clone(), &admins, item))
            .collect()
    }

    /// Waits until all instances are there and buyers reach them. Of our own, instances and stores that died are started
    /// again, and relays pass everything; a foreign shop has its own supervisor for that.
    ///
    /// # Errors
    /// When one does not come back in time.
    pub async fn heal(&self) -> Result<()> {
        if let Some(ours) = self.ours.clone() {
            tokio::task::spawn_blocking(move || ours.heal()).await??;
        }
        let all = async {
            while self.answering().await < self.count {
                sleep(LOOK_EVERY).await;
            }
        };
        let came = timeout(BACK_WITHIN, all).await;
        came.with_context(|| format!("not all of {} instances came back within {BACK_WITHIN:?}", self.count))?;
        let known = self.named.load(Ordering::Relaxed);
        let named = self.client.ready(self.count, known).await?;
        self.named.fetch_max(named, Ordering::Relaxed);
        Ok(())
    }
}
