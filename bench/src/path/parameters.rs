//! The parameters of a row: a strategy, and its route to the store.

use serde::Serialize;

use super::measure::Route;

/// The name of the no-op's rows.
pub const NOOP: &str = "noop";

/// How the purchases of an instance share connections to the store.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Client {
    /// At some step a purchase takes a connection out of a pool.
    Pool,
    /// All purchases of an instance share the same connections.
    Multiplexed,
}

/// The parameters of a row.
#[derive(Clone, Debug, Serialize)]
pub struct Parameters {
    /// The strategy, or [`NOOP`].
    pub strategy: String,
    /// The route of the purchases.
    pub route: Route,
    /// The connections to the store. None for the no-op.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub client: Option<Client>,
}
