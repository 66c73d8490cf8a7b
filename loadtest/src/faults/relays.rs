//! Relays between the instances and the services that a strategy uses.

use std::time::Duration;

use anyhow::{Context, Result};
use stack::{Relay, ServiceKind};
use tokio::time::{sleep, timeout};

use crate::attack::AttackControl;
use crate::deployment::ShopParts;
use crate::deployment::requirement::servers;
use crate::text::counted;

/// The pause between two checks of the relays.
const CHECK_EVERY: Duration = Duration::from_millis(5);

pub(crate) struct Relays<'a> {
    parts: &'a ShopParts,
    kinds: Vec<ServiceKind>,
}

/// Returns the relays before all services of the strategy that is attacked: its stores, and the services of its lock.
pub(crate) fn of_strategy<'a>(control: &AttackControl<'a>) -> Result<Relays<'a>> {
    of_servers(control, servers(&control.attack.sale.strategy))
}

pub(crate) fn of_servers<'a>(control: &AttackControl<'a>, kinds: Vec<ServiceKind>) -> Result<Relays<'a>> {
    Ok(Relays {
        parts: control.shop.parts().context("the shop was not started here")?,
        kinds,
    })
}

impl<'a> Relays<'a> {
    /// The services behind them, for a sentence: `Redis and MariaDB`.
    pub(crate) fn names(&self) -> String {
        let names: Vec<String> = self.kinds.iter().map(ToString::to_string).collect();
        names.join(" and ")
    }

    pub(crate) fn all(&self) -> impl Iterator<Item = &Relay> {
        self.kinds.iter().flat_map(|kind| self.parts.shop.relays(*kind))
    }

    pub(crate) fn of_first_instance(&self) -> impl Iterator<Item = &Relay> {
        let shop = &self.parts.shop;
        self.kinds.iter().flat_map(move |kind| shop.relays_of(0, *kind))
    }

    pub(crate) fn of_other_instances(&self) -> impl Iterator<Item = &Relay> {
        let shop = &self.parts.shop;
        let others = 1..shop.relayed_instances();
        others.flat_map(move |instance| self.kinds.iter().flat_map(move |kind| shop.relays_of(instance, *kind)))
    }

    /// Returns whether one of them delayed, cut or lost anything.
    fn any_affected(&self) -> bool {
        self.all().any(|relay| relay.affected() > 0)
    }

    /// Proves what happened to messages between the instances and each process. Returns whether it happened to any.
    pub(crate) fn prove_affected(&self, control: &AttackControl<'_>, what: &str) -> bool {
        for kind in &self.kinds {
            let affected = self.affected_by_process(*kind);
            for (nth, messages) in (1..).zip(&affected).filter(|(_, messages)| **messages > 0) {
                let messages = counted(*messages as usize, ["message was", "messages were"]);
                let proof = format!("{messages} {what} between it and the instances");
                control.prove(&kind.process(nth, affected.len()), proof);
            }
        }
        self.any_affected()
    }

    /// Returns whether something was proven of each service behind the relays. A client of an ensemble talks with one
    /// process of it, so a single process may see no message.
    pub(crate) fn each_is_proven(&self, control: &AttackControl<'_>) -> bool {
        self.unproven(control).is_empty()
    }

    /// Returns the relays before each service of which nothing was proven, each service by itself.
    pub(crate) fn unproven(&self, control: &AttackControl<'_>) -> Vec<Self> {
        let unproven = self.kinds.iter().filter(|kind| !control.is_proven(**kind));
        unproven
            .map(|kind| Self {
                parts: self.parts,
                kinds: vec![*kind],
            })
            .collect()
    }

    /// Returns how many messages were affected at each process of the service, by all instances together.
    fn affected_by_process(&self, kind: ServiceKind) -> Vec<u64> {
        let shop = &self.parts.shop;
        let mut affected = vec![0; shop.relays_of(0, kind).len()];
        for instance in 0..shop.relayed_instances() {
            for (sum, relay) in affected.iter_mut().zip(shop.relays_of(instance, kind)) {
                *sum += relay.affected();
            }
        }
        affected
    }

    /// Waits until one of them has. Returns whether it did within that time.
    pub(crate) async fn affected_within(&self, limit: Duration) -> bool {
        let affected = async {
            while !self.any_affected() {
                sleep(CHECK_EVERY).await;
            }
        };
        timeout(limit, affected).await.is_ok()
    }
}
