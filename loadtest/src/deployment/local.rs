//! Shops that are started here, and what can be done to their processes.

use std::collections::HashMap;
use std::sync::Arc;

use anyhow::{Context, Result};
use stack::ServerKind;

use super::RunningShop;
use crate::deployment::requirement::Requirement;
use crate::facts::Urls;
use crate::http::BACK_WITHIN;
use crate::shop::instances::Instances;
use crate::shop::{Address, ShopClient};

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

/// What of a shop was started here, with all that can be done to it.
#[derive(Clone)]
pub struct LocalProcesses {
    /// The instances, the proxy, and the relays that were asked for.
    pub shop: Arc<stack::Shop>,
    /// The stores; some of them may run elsewhere.
    pub stores: Arc<stack::Stores>,
}

impl Local {
    pub(super) fn has(&self, need: Requirement) -> bool {
        match need {
            Requirement::Instances | Requirement::RetryingProxy => true,
            Requirement::Service(kind) | Requirement::Relay(kind) => service(&self.stores, kind).is_some(),
            Requirement::Clocks => {
                let stores = [self.stores.redis(), self.stores.mariadb()];
                stores
                    .iter()
                    .all(|store| store.is_some_and(|store| store.clock().is_some()))
            }
        }
    }

    pub(super) fn running(&mut self, count: usize, needs: &[Requirement]) -> Result<RunningShop> {
        let mut options = self.options.clone();
        options.instances = count;
        // Always in one order, each once: it is what the shop is found by.
        let is_relayed = |kind: &ServerKind| needs.iter().any(|need| need.relay() == Some(*kind));
        options.relays = ServerKind::ALL.into_iter().filter(is_relayed).collect();
        options.retrying = needs.contains(&Requirement::RetryingProxy);
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
        let local_processes = LocalProcesses {
            shop: Arc::new(shop),
            stores: self.stores.clone(),
        };
        let running = RunningShop::new(client, count, Instances::at(admins)?, Some(local_processes));
        self.running.insert(key, running.clone());
        Ok(running)
    }
}

impl LocalProcesses {
    pub(super) fn heal(&self) -> Result<()> {
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
