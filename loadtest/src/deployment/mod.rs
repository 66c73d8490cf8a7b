//! The shop on trial: one that is started here, with any number of instances, or a remote one.

mod local;
mod remote;
pub mod requirement;
mod running;
mod trial_lock;
mod unplayed;

use anyhow::Result;

use crate::deployment::requirement::Requirement;
use crate::facts::{StorePair, Urls};
use crate::shop::Address;
use crate::shop::catalogue::Strategy;
use crate::text::counted;

pub use self::local::{Local, ShopParts};
pub use self::remote::{FaultService, Remote};
pub use self::running::RunningShop;
pub use self::trial_lock::TrialLock;
pub use self::unplayed::Unplayed;

/// A place where rounds can be played.
pub enum Deployment {
    /// Shops that are started here, one for each number of instances.
    Local(Box<Local>),
    /// One remote shop.
    Remote(Box<Remote>),
}

impl Deployment {
    /// Connects to a remote shop without a service for faults. It has as many instances as answer at its admin URLs.
    ///
    /// # Errors
    /// When no instance answers, or the HTTP client cannot be built.
    pub async fn remote(at: Address, admins: Vec<String>, urls: Urls) -> Result<Self> {
        let remote = Remote::connect(at, admins, urls, None).await?;
        Ok(Self::Remote(Box::new(remote)))
    }

    /// Returns the URLs from which the stores are read.
    pub fn urls(&self) -> Urls {
        match self {
            Self::Local(local) => local.urls.clone(),
            Self::Remote(remote) => remote.urls.clone(),
        }
    }

    /// Returns the reason why this strategy cannot be tried here, if there is one.
    pub fn why_not(&self, strategy: &Strategy, requirements: &[Requirement], instances: usize) -> Option<Unplayed> {
        let missing = strategy.missing.as_ref();
        let skipped = missing
            .map(|why| format!("the shop cannot use it: {why}"))
            .or_else(|| self.has_other_count(instances))
            .or_else(|| self.unread(strategy.store));
        skipped
            .map(Unplayed::Skipped)
            .or_else(|| self.lacks(requirements).map(Unplayed::NotPlayable))
    }

    /// Returns the reason why the ledgers of a strategy cannot be read, if there is one.
    fn unread(&self, stores: StorePair) -> Option<String> {
        let urls = self.urls();
        let unread = [stores.stock, stores.orders]
            .into_iter()
            .find(|store| !urls.contains_key(store));
        unread.map(|store| format!("its ledger cannot be read: --{store} is not given"))
    }

    /// Returns the reason why no round can be played on that many instances, if there is one.
    fn has_other_count(&self, wanted: usize) -> Option<String> {
        match self {
            Self::Remote(remote) if remote.running.count != wanted => {
                let runs_on = counted(remote.running.count, ["instance", "instances"]);
                Some(format!("the shop runs on {runs_on}, not on {wanted}"))
            }
            Self::Remote(_) | Self::Local(_) => None,
        }
    }

    /// Returns the reason why no round with these requirements can be played, if there is one.
    fn lacks(&self, requirements: &[Requirement]) -> Option<String> {
        let has = |requirement: Requirement| match self {
            Self::Remote(remote) => {
                let parts = remote.running.parts();
                parts.is_some_and(|parts| requirement.is_met(&parts.stores, Some(&parts.shop)))
            }
            Self::Local(local) => requirement.is_met(&local.stores, None),
        };
        let missing = requirements.iter().find(|requirement| !has(**requirement));
        missing.map(|requirement| match self {
            Self::Remote(remote) if remote.running.parts().is_some() => requirement.out_of_reach(),
            Self::Remote(_) | Self::Local(_) => format!("it needs {requirement}"),
        })
    }

    /// Returns the reason why no round can be played on that many instances any more, if a remote shop has more of them now. Where
    /// some are missing they may come back: [`Self::heal`] waits for them.
    pub async fn outgrown(&self, wanted: usize) -> Option<String> {
        let Self::Remote(remote) = self else {
            return None;
        };
        let now = remote.running.answering().await;
        (now > wanted).then(|| format!("the shop came to run on {now} instances, not on {wanted}"))
    }

    /// Returns a shop with that many instances and the required relays. Starts it if it is not running yet. A remote
    /// shop is returned as it is.
    ///
    /// # Errors
    /// When it cannot be started.
    pub fn running(&mut self, wanted: usize, requirements: &[Requirement]) -> Result<RunningShop> {
        match self {
            Self::Local(local) => local.running(wanted, requirements),
            Self::Remote(remote) => {
                let retries = requirements.contains(&Requirement::RetryingProxy);
                let retrying = remote.retrying.as_ref().filter(|_| retries);
                Ok(retrying.unwrap_or(&remote.running).clone())
            }
        }
    }

    /// Returns the other shops that are started here and have instances. The background workers of such an instance work
    /// for every shop over the same stores: they do what the shop on trial leaves undone.
    pub fn others(&self, shop: &RunningShop) -> Vec<ShopParts> {
        let (Self::Local(local), Some(own)) = (self, shop.parts()) else {
            return Vec::new();
        };
        let all = local.running.values().filter_map(RunningShop::parts);
        let others = all.filter(|other| !other.is(own) && other.has_instances());
        others.cloned().collect()
    }

    /// Ends the instances of the other shops, until every shop is healed.
    ///
    /// # Errors
    /// When the system refuses.
    pub async fn end_others(&self, shop: &RunningShop) -> Result<()> {
        let others = self.others(shop);
        tokio::task::spawn_blocking(move || others.iter().try_for_each(ShopParts::end_instances)).await?
    }

    /// Heals every shop. Shops that are started here share their stores: a fault in a store broke the connections of
    /// all shops.
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
