//! Whose shop is on trial: our own, started here in any number of instances, or one that runs elsewhere.

use std::collections::HashMap;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use anyhow::{Context, Result, bail};
use tokio::time::{sleep, timeout};

use crate::facts::Urls;
use crate::instances::{DeathWatch, Instances};
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
    pub stores: stack::Stores,
    /// How an instance is started.
    pub options: stack::ShopOptions,
    /// The token that the instances were given.
    pub admin_token: String,
    /// The shops started so far, by number of instances.
    pub running: HashMap<usize, RunningShop>,
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
    /// The instances that we started; `None` where somebody else looks after them.
    ours: Option<Arc<stack::Shop>>,
    /// As many instances as ever named themselves behind the public listener at one time.
    named: Arc<AtomicUsize>,
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
            Self::Local(local) => Urls {
                redis: local.stores.redis_url().to_owned(),
                sql: local.stores.sql_url().to_owned(),
            },
            Self::Foreign(foreign) => foreign.urls.clone(),
        }
    }

    /// Why no round can be played on that many instances, if none can.
    pub fn why_not(&self, wanted: usize) -> Option<String> {
        match self {
            Self::Foreign(Foreign { running, .. }) if running.count != wanted => {
                Some(format!("the shop runs on {} instances, not on {wanted}", running.count))
            }
            Self::Foreign(_) | Self::Local(_) => None,
        }
    }

    /// A shop of that many instances, started if it is not running yet. A foreign one is as it is.
    ///
    /// # Errors
    /// When it cannot be started.
    pub fn running(&mut self, wanted: usize) -> Result<RunningShop> {
        match self {
            Self::Local(local) => local.running(wanted),
            Self::Foreign(foreign) => Ok(foreign.running.clone()),
        }
    }
}

impl Local {
    fn running(&mut self, count: usize) -> Result<RunningShop> {
        if let Some(running) = self.running.get(&count) {
            return Ok(running.clone());
        }
        let mut options = self.options.clone();
        options.instances = count;
        let shop = self.stores.shop(&options)?;
        let admins = shop.admins();
        let client = ShopClient::new(Address {
            host: shop.host(),
            admin: admins.first().cloned().context("a shop without instances")?,
            admin_token: self.admin_token.clone(),
        })?;
        let running = RunningShop::new(client, count, Instances::at(admins)?, Some(Arc::new(shop)));
        self.running.insert(count, running.clone());
        Ok(running)
    }
}

impl RunningShop {
    fn new(client: ShopClient, count: usize, instances: Instances, ours: Option<Arc<stack::Shop>>) -> Self {
        Self {
            client,
            count,
            instances,
            ours,
            named: Arc::default(),
        }
    }

    /// Begins to watch for the death of an instance.
    pub async fn watch(&self) -> DeathWatch {
        self.instances.watch().await
    }

    /// Has every instance write down what it does for a sale; `None` where one of them does not know how.
    pub async fn trace(&self, item: &str) -> Option<SaleTrace> {
        let admins = self.instances.admins().await.into_iter().collect();
        SaleTrace::begin(self.client.clone(), admins, self.count, item).await
    }

    /// Waits until all instances are there and buyers reach them. Those of our own that died are started again; a
    /// foreign shop has its own supervisor for that.
    ///
    /// # Errors
    /// When one does not come back in time.
    pub async fn heal(&self) -> Result<()> {
        if let Some(ours) = self.ours.clone() {
            tokio::task::spawn_blocking(move || ours.revive()).await??;
        }
        let all = async {
            while self.instances.answering().await < self.count {
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
