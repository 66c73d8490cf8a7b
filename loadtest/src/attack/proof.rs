//! The proof that a fault struck a service.

use serde::{Deserialize, Serialize};

/// What was seen of a fault at the service that it names.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Proof {
    /// The service, such as `redis`, `redis-nodes/2` or `app-1`.
    pub service: String,
    /// One sentence with the figures that were seen.
    pub proof: String,
}

impl Proof {
    /// Makes a proof.
    pub fn new(service: impl Into<String>, proof: impl Into<String>) -> Self {
        Self {
            service: service.into(),
            proof: proof.into(),
        }
    }
}
