//! Whose shop is on trial: our own, started here in any number of instances, or one that runs elsewhere.

use std::collections::{HashMap, HashSet};
use std::sync::Arc;
use std::time::Duration;

use anyhow::{Context, Result, bail};
use tokio::net::{TcpStream, lookup_host};
use tokio::time::{sleep, timeout};

use crate::facts::Urls;
use crate::shop::{Address, BACK_WITHIN, Shop};

/// How often a foreign shop's missing instances are looked for.
const LOOK_EVERY: Duration = Duration::from_millis(50);

/// Where rounds can be played.
pub enum Ground {
    /// Shops that are started here, one for each number of instances.
    Local(Box<Local>),
    /// One shop that runs elsewhere.
    Foreign {
        /// The shop, seen through its contract.
        shop: Shop,
        /// Its stores.
        urls: Urls,
        /// Base URLs of its admin listeners; one name may stand for several instances.
        admins: Vec<String>,
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
    pub sites: HashMap<usize, Site>,
}

/// A shop with the number of instances that a round asks for.
#[derive(Clone)]
pub struct Site {
    /// The shop, seen through its contract.
    pub shop: Shop,
    home: Home,
}

/// Who looks after its instances.
#[derive(Clone)]
enum Home {
    /// We do.
    Local(Arc<stack::Shop>),
    /// Somebody else does, behind these admin listeners.
    Foreign { admins: Vec<String>, instances: usize },
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

    /// Why no round can be played on that many instances, if none can.
    pub fn why_not(&self, wanted: usize) -> Option<String> {
        match self {
            Self::Foreign { instances, .. } if *instances != wanted => {
                Some(format!("the shop runs on {instances} instances, not on {wanted}"))
            }
            Self::Foreign { .. } | Self::Local(_) => None,
        }
    }

    /// A shop of that many instances, started if it is not running yet. A foreign one is as it is.
    ///
    /// # Errors
    /// When it cannot be started, or nobody is there.
    pub fn site(&mut self, wanted: usize) -> Result<Site> {
        match self {
            Self::Local(local) => local.site(wanted),
            Self::Foreign {
                shop,
                admins,
                instances,
                ..
            } => {
                if *instances == 0 {
                    bail!("nobody listens at {}: is a shop running there?", admins.join(", "));
                }
                Ok(Site {
                    shop: shop.clone(),
                    home: Home::Foreign {
                        admins: admins.clone(),
                        instances: *instances,
                    },
                })
            }
        }
    }
}

impl Local {
    fn site(&mut self, instances: usize) -> Result<Site> {
        if let Some(site) = self.sites.get(&instances) {
            return Ok(site.clone());
        }
        let mut options = self.options.clone();
        options.instances = instances;
        let local = Arc::new(self.stores.shop(&options)?);
        let admin = local.admins().into_iter().next().context("a shop without instances")?;
        let shop = Shop::new(Address {
            host: local.host(),
            admin,
            admin_token: self.admin_token.clone(),
        })?;
        let home = Home::Local(local);
        let site = Site { shop, home };
        self.sites.insert(instances, site.clone());
        Ok(site)
    }
}

impl Site {
    /// Waits until all instances are there. Those of our own that died are started again; a foreign shop has its own
    /// supervisor for that.
    ///
    /// # Errors
    /// When one does not come back in time.
    pub async fn mend(&self) -> Result<()> {
        match &self.home {
            Home::Local(local) => {
                let local = local.clone();
                tokio::task::spawn_blocking(move || local.revive()).await??;
            }
            Home::Foreign { admins, instances } => {
                let all = async {
                    while listening(admins).await < *instances {
                        sleep(LOOK_EVERY).await;
                    }
                };
                let came = timeout(BACK_WITHIN, all).await;
                came.with_context(|| format!("not all of {instances} instances came back within {BACK_WITHIN:?}"))?;
            }
        }
        self.shop.ready().await
    }
}

/// How many instances listen at these admin URLs, each name counted by its addresses.
pub async fn listening(admins: &[String]) -> usize {
    let mut found = HashSet::new();
    for admin in admins {
        let Ok(url) = admin.parse::<reqwest::Url>() else {
            continue;
        };
        let port = url.port_or_known_default().unwrap_or(80);
        let Ok(addresses) = lookup_host((url.host_str().unwrap_or_default(), port)).await else {
            continue;
        };
        for address in addresses {
            if TcpStream::connect(address).await.is_ok() {
                found.insert(address);
            }
        }
    }
    found.len()
}
