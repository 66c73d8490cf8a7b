//! The relays between the instances and the servers that a strategy uses.

use std::time::Duration;

use anyhow::{Context, Result};
use stack::{Relay, ServerKind};
use tokio::time::{sleep, timeout};

use crate::attack::AttackControl;
use crate::deployment::LocalProcesses;
use crate::deployment::requirement::servers;

/// After which a relay is looked at again.
const LOOKED_AT_AFTER: Duration = Duration::from_millis(5);

pub(crate) struct Relays<'a> {
    local_processes: &'a LocalProcesses,
    kinds: Vec<ServerKind>,
}

/// Those before the stores of the strategy that is attacked.
pub(crate) fn of<'a>(control: &AttackControl<'a>) -> Result<Relays<'a>> {
    before(control, servers(&control.attack.sale.strategy))
}

/// Those before these servers.
pub(crate) fn before<'a>(control: &AttackControl<'a>, kinds: Vec<ServerKind>) -> Result<Relays<'a>> {
    Ok(Relays {
        local_processes: control.shop.local_processes().context("the shop is not ours")?,
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

    /// Those of every instance but the first.
    pub(crate) fn of_others(&self) -> impl Iterator<Item = &Relay> {
        self.kinds
            .iter()
            .flat_map(|kind| self.local_processes.shop.relays(*kind).skip(1))
    }

    /// Whether anything that was on its way met trouble at one of them.
    pub(crate) fn any_affected(&self) -> bool {
        self.all().any(|relay| relay.affected() > 0)
    }

    /// Waits until anything has. Whether it did within that time.
    pub(crate) async fn affected_within(&self, limit: Duration) -> bool {
        let affected = async {
            while !self.any_affected() {
                sleep(LOOKED_AT_AFTER).await;
            }
        };
        timeout(limit, affected).await.is_ok()
    }
}
