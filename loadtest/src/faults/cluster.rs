//! The Redis Cluster that holds the sales of a strategy.

use anyhow::{Context, Result};
use stack::ServiceKind;

use crate::attack::AttackControl;
use crate::deployment::requirement::servers;
use crate::shop::catalogue::Strategy;

/// Its name in the story of a round.
pub(crate) const SUBJECT: &str = "the Redis Cluster";

/// Returns whether the strategy uses it.
pub(crate) fn is_used(strategy: &Strategy) -> bool {
    servers(strategy).contains(&ServiceKind::Cluster)
}

/// Returns a key of the item that is attacked. All its keys share a slot.
pub(crate) fn key(control: &AttackControl<'_>) -> Result<String> {
    let sale = control.attack.sale.sales.first().context("the attack has no item")?;
    Ok(format!("stock:{{{}}}", sale.item))
}
