//! The relays between the instances and the servers that a strategy uses.

use anyhow::{Context, Result};
use stack::{Relay, ServerKind};

use crate::attack::Scene;
use crate::deployment::Ours;
use crate::need::servers;

pub(crate) struct Relays<'a> {
    ours: &'a Ours,
    kinds: Vec<ServerKind>,
}

/// Those before the stores of the strategy that is attacked.
pub(crate) fn of<'a>(scene: &Scene<'a>) -> Result<Relays<'a>> {
    before(scene, servers(&scene.attack.sale.strategy))
}

/// Those before these servers.
pub(crate) fn before<'a>(scene: &Scene<'a>, kinds: Vec<ServerKind>) -> Result<Relays<'a>> {
    Ok(Relays {
        ours: scene.shop.ours().context("the shop is not ours")?,
        kinds,
    })
}

impl Relays<'_> {
    pub(crate) fn all(&self) -> impl Iterator<Item = &Relay> {
        self.kinds.iter().flat_map(|kind| self.ours.shop.relays(*kind))
    }

    /// Those of every instance but the first.
    pub(crate) fn of_others(&self) -> impl Iterator<Item = &Relay> {
        self.kinds.iter().flat_map(|kind| self.ours.shop.relays(*kind).skip(1))
    }

    /// Whether anything that was on its way met trouble at one of them.
    pub(crate) fn any_affected(&self) -> bool {
        self.all().any(|relay| relay.affected() > 0)
    }
}
