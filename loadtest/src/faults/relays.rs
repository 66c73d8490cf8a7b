//! Relays between the instances and the servers that a strategy uses.

use std::time::Duration;

use anyhow::{Context, Result};
use stack::{Relay, ServerKind};
use tokio::time::{sleep, timeout};

use crate::attack::AttackControl;
use crate::deployment::LocalProcesses;
use crate::deployment::requirement::servers;

/// The pause between two checks of the relays.
const CHECK_EVERY: Duration = Duration::from_millis(5);

pub(crate) struct Relays<'a> {
    local_processes: &'a LocalProcesses,
    kinds: Vec<ServerKind>,
}

/// Returns the relays before all servers of the strategy that is attacked: its stores, and the store that it locks by.
pub(crate) fn of_strategy<'a>(control: &AttackControl<'a>) -> Result<Relays<'a>> {
    of_servers(control, servers(&control.attack.sale.strategy))
}

pub(crate) fn of_servers<'a>(control: &AttackControl<'a>, kinds: Vec<ServerKind>) -> Result<Relays<'a>> {
    Ok(Relays {
        local_processes: control
            .shop
            .local_processes()
            .context("the shop was not started here")?,
        kinds,
    })
}

impl Relays<'_> {
    /// The servers behind them, for a sentence: `Redis and MariaDB`.
    pub(crate) fn names(&self) -> String {
        let names: Vec<String> = self.kinds.iter().map(ToString::to_string).collect();
        names.join(" and ")
    }

    pub(crate) fn all(&self) -> impl Iterator<Item = &Relay> {
        self.kinds
            .iter()
            .flat_map(|kind| self.local_processes.shop.relays(*kind))
    }

    pub(crate) fn of_other_instances(&self) -> impl Iterator<Item = &Relay> {
        self.kinds
            .iter()
            .flat_map(|kind| self.local_processes.shop.relays(*kind).skip(1))
    }

    /// Returns whether one of them delayed, cut or lost anything.
    pub(crate) fn any_affected(&self) -> bool {
        self.all().any(|relay| relay.affected() > 0)
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
