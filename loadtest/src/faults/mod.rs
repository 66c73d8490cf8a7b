//! Faults that several threats share.

pub(crate) mod clocks;
pub(crate) mod closed_connections;
pub(crate) mod cluster;
pub(crate) mod companions;
pub(crate) mod crash;
pub(crate) mod every_step;
pub(crate) mod eviction;
pub(crate) mod full_disk;
pub(crate) mod hold;
pub(crate) mod leader;
pub(crate) mod lock_nodes;
pub(crate) mod messages;
pub(crate) mod moment;
pub(crate) mod power_loss;
pub(crate) mod relays;
pub(crate) mod restart;
pub(crate) mod sql_database;
pub(crate) mod stall;
pub(crate) mod successors;
pub(crate) mod worker;
