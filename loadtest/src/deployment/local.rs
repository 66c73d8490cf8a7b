//! Shops that are started here, and control of their processes.

use std::collections::HashMap;
use std::sync::Arc;

use anyhow::{Context, Result};
use stack::{Service, ServiceKind};

use super::RunningShop;
use crate::deployment::requirement::Requirement;
use crate::facts::Urls;
use crate::http::BACK_WITHIN;
use crate::shop::instances::Instances;
use crate::shop::{Address, ShopClient};
use crate::trust::Trust;

/// Shops that are started here, over one pair of stores.
pub struct Local {
    /// The stores that all shops share.
    pub stores: Arc<stack::Stores>,
    /// The options of an instance.
    pub options: stack::ShopOptions,
    /// The URLs from which the stores are read.
    pub urls: Urls,
    /// The admin token of the instances.
    pub admin_token: String,
    /// The shops that run already, by number of instances, by the services with relays, and by whether the proxy
    /// retries.
    pub running: HashMap<(usize, Vec<ServiceKind>, bool), RunningShop>,
}

/// The parts of a shop that faults can strike: those that were started here, and those behind a service for faults.
#[derive(Clone)]
pub struct ShopParts {
    /// The instances, the proxy, and the relays.
    pub shop: Arc<stack::Shop>,
    /// The stores; some of them may be out of reach.
    pub stores: Arc<stack::Stores>,
}

impl Local {
    pub(super) fn running(&mut self, count: usize, requirements: &[Requirement]) -> Result<RunningShop> {
        let mut options = self.options.clone();
        options.instances = count;
        // One shop with relays before all services serves every threat that needs one.
        let has_relays = requirements.iter().any(|requirement| requirement.is_relay());
        let here = |kind: &ServiceKind| has_relays && !self.stores.processes(*kind).is_empty();
        options.relays = ServiceKind::ALL.into_iter().filter(here).collect();
        options.retrying = requirements.contains(&Requirement::RetryingProxy);
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
            trust: Trust::System,
        })?;
        let parts = ShopParts {
            shop: Arc::new(shop),
            stores: self.stores.clone(),
        };
        let running = RunningShop::new(client, count, Instances::at(admins, &Trust::System)?, Some(parts));
        self.running.insert(key, running.clone());
        Ok(running)
    }
}

impl ShopParts {
    pub(super) fn is(&self, other: &Self) -> bool {
        Arc::ptr_eq(&self.shop, &other.shop)
    }

    pub(super) fn has_instances(&self) -> bool {
        self.shop.instances().iter().any(|instance| !instance.has_exited())
    }

    /// Asks the instances to end. They start again when the shop is healed.
    pub(super) fn end_instances(&self) -> Result<()> {
        for instance in self.shop.instances() {
            instance.stop(BACK_WITHIN)?;
        }
        Ok(())
    }

    pub(super) fn heal(&self) -> Result<()> {
        self.shop.pass_all();
        for clock in self.shop.clocks() {
            clock.set_right()?;
        }
        // A store's clock that is ahead keeps its time: setting it right would be another threat.
        let stores = ServiceKind::ALL
            .into_iter()
            .flat_map(|kind| self.stores.processes(kind));
        for clock in stores.filter_map(Service::clock) {
            clock.catch_up()?;
        }
        let services = ServiceKind::ALL.into_iter();
        let gone: Vec<&Service> = services
            .flat_map(|kind| self.stores.processes(kind))
            .filter(|process| process.has_exited())
            .collect();
        // All first: the last process of an ensemble does not serve before most others run.
        for process in &gone {
            process.restart()?;
        }
        for process in gone {
            process.wait_ready(BACK_WITHIN)?;
        }
        self.shop.revive().map(drop)
    }
}
