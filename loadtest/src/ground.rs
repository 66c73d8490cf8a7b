//! Whose shop is on trial: our own, started here in any number of instances, or one that runs elsewhere.

use std::collections::HashMap;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use anyhow::{Context, Result, bail};

use crate::facts::Urls;
use crate::shop::{Address, Shop};

/// How often the dead are looked for while a fault is expected.
const LOOK_EVERY: Duration = Duration::from_millis(10);

/// Where rounds can be played.
pub enum Ground {
    /// Shops that are started here, one for each number of instances.
    Local(Box<Local>),
    /// One shop that runs elsewhere.
    Foreign {
        /// Where it is.
        at: Address,
        /// Its stores.
        urls: Urls,
        /// Over how many instances its operator runs it.
        instances: usize,
    },
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
    pub shops: HashMap<usize, Arc<stack::Shop>>,
}

/// A shop with the number of instances that a round asks for.
#[derive(Clone)]
pub struct Site {
    /// The shop, seen through its contract.
    pub shop: Shop,
    local: Option<Arc<stack::Shop>>,
}

impl Ground {
    /// Where the witness reads.
    pub fn urls(&self) -> Urls {
        match self {
            Self::Local(local) => Urls {
                redis: local.stores.redis_url().to_owned(),
                sql: local.stores.sql_url().to_owned(),
            },
            Self::Foreign { urls, .. } => urls.clone(),
        }
    }

    /// A shop of that many instances, started if it is not running yet.
    ///
    /// # Errors
    /// When it cannot be started, or a foreign one has another number of instances.
    pub fn site(&mut self, wanted: usize) -> Result<Site> {
        match self {
            Self::Local(local) => local.site(wanted),
            Self::Foreign { at, instances, .. } => {
                if *instances != wanted {
                    bail!("the shop at {} runs on {instances} instances, not on {wanted}", at.host);
                }
                Ok(Site {
                    shop: Shop::new(at.clone())?,
                    local: None,
                })
            }
        }
    }
}

impl Local {
    fn site(&mut self, instances: usize) -> Result<Site> {
        if !self.shops.contains_key(&instances) {
            let mut options = self.options.clone();
            options.instances = instances;
            let shop = self.stores.shop(&options)?;
            self.shops.insert(instances, Arc::new(shop));
        }
        let local = self.shops[&instances].clone();
        let admin = local.admins().into_iter().next().context("a shop without instances")?;
        let shop = Shop::new(Address {
            host: local.host(),
            admin,
            admin_token: self.admin_token.clone(),
        })?;
        let local = Some(local);
        Ok(Site { shop, local })
    }
}

impl Site {
    /// Brings back every instance that dies, until `done`. A foreign shop has its own supervisor for that.
    ///
    /// # Errors
    /// When an instance does not come back.
    pub async fn keep_alive(&self, done: &AtomicBool) -> Result<()> {
        let Some(local) = &self.local else { return Ok(()) };
        loop {
            let last = done.load(Ordering::Relaxed);
            let local = local.clone();
            tokio::task::spawn_blocking(move || local.revive()).await??;
            if last {
                return Ok(());
            }
            tokio::time::sleep(LOOK_EVERY).await;
        }
    }

    /// Waits until the shop sells again.
    ///
    /// # Errors
    /// When it does not in time.
    pub async fn back(&self) -> Result<()> {
        self.shop.ready().await
    }
}
