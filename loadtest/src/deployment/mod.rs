//! Whose shop is on trial: our own, started here in any number of instances, or one that runs elsewhere.

mod local;
pub mod requirement;
mod running;

use anyhow::{Result, bail};

use crate::deployment::requirement::Requirement;
use crate::facts::{StorePair, Urls};
use crate::shop::catalogue::Strategy;
use crate::shop::instances::Instances;
use crate::shop::{Address, ShopClient};

pub use self::local::{Local, LocalProcesses};
pub use self::running::RunningShop;

/// Where rounds can be played.
pub enum Deployment {
    /// Shops that are started here, one for each number of instances.
    Local(Box<Local>),
    /// One shop that runs elsewhere.
    Remote(Remote),
}

/// A shop that somebody else runs.
pub struct Remote {
    /// The shop, with as many instances as answer.
    pub running: RunningShop,
    /// Its stores.
    pub urls: Urls,
}

impl Deployment {
    /// A shop that runs elsewhere, over as many instances as answer at its admin URLs.
    ///
    /// # Errors
    /// When nobody answers there, or the HTTP client cannot be built.
    pub async fn remote(at: Address, admins: Vec<String>, urls: Urls) -> Result<Self> {
        let instances = Instances::at(admins)?;
        let count = instances.answering().await;
        if count == 0 {
            bail!("nobody answers at {}: is a shop running there?", instances.urls());
        }
        let client = ShopClient::new(at)?;
        let running = RunningShop::new(client, count, instances, None);
        Ok(Self::Remote(Remote { running, urls }))
    }

    /// Where the witness reads.
    pub fn urls(&self) -> Urls {
        match self {
            Self::Local(local) => local.urls.clone(),
            Self::Remote(remote) => remote.urls.clone(),
        }
    }

    /// Why this strategy cannot be tried here, if it cannot.
    pub fn why_not(&self, strategy: &Strategy, needs: &[Requirement], instances: usize) -> Option<String> {
        let missing = strategy.missing.clone();
        missing
            .or_else(|| self.lacks(instances, needs))
            .or_else(|| self.unread(strategy.store))
    }

    /// Why what a strategy keeps there cannot be read, if it cannot.
    fn unread(&self, place: StorePair) -> Option<String> {
        let urls = self.urls();
        let unread = [place.stock, place.orders]
            .into_iter()
            .find(|store| !urls.contains_key(store));
        unread.map(|store| format!("its ledger cannot be read: --{store} is not given"))
    }

    /// Why no round can be played on that many instances, with all that it needs, if none can.
    fn lacks(&self, wanted: usize, needs: &[Requirement]) -> Option<String> {
        let missing = match self {
            Self::Remote(Remote { running, .. }) if running.count != wanted => {
                return Some(format!("the shop runs on {} instances, not on {wanted}", running.count));
            }
            Self::Remote(_) => needs.first(),
            Self::Local(local) => needs.iter().find(|need| !local.has(**need)),
        };
        missing.map(|need| format!("it needs {need}"))
    }

    /// A shop of that many instances, with the relays that are needed, started if it is not running yet. A foreign one is
    /// as it is.
    ///
    /// # Errors
    /// When it cannot be started.
    pub fn running(&mut self, wanted: usize, needs: &[Requirement]) -> Result<RunningShop> {
        match self {
            Self::Local(local) => local.running(wanted, needs),
            Self::Remote(remote) => Ok(remote.running.clone()),
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
            Self::Remote(remote) => remote.running.heal().await,
        }
    }
}
