//! A kind of service, and one that was started.

use std::path::Path;

use anyhow::Result;

use crate::ports::ReservedPorts;
use crate::service::Service;
use crate::service_kind::ServiceKind;

/// A kind of service.
pub(crate) struct Kind {
    /// The service.
    pub(crate) of: ServiceKind,
    /// Starts it in this folder. The first argument allows the fetch of a missing program.
    pub(crate) start: fn(bool, &Path) -> Result<Running>,
}

/// A service that was started. It is up once each of its processes is.
#[derive(Default)]
pub(crate) struct Running {
    /// Its processes.
    pub(crate) services: Vec<Service>,
    /// Where clients find it.
    pub(crate) urls: Vec<String>,
    /// Where its processes listen, if they use TCP. They are kept for a restart.
    pub(crate) _ports: ReservedPorts,
}
