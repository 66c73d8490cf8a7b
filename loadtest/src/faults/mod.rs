//! Faults that several threats share.

pub(crate) mod closed_connections;
pub(crate) mod crash;
pub(crate) mod every_step;
pub(crate) mod hold;
pub(crate) mod power_loss;
pub(crate) mod relays;
pub(crate) mod restart;
pub(crate) mod stall;
pub(crate) mod successors;
