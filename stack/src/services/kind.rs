//! A kind of service, and one that was started.

use std::path::Path;

use anyhow::Result;

use crate::service::Service;

/// A kind of service.
pub(crate) struct Kind {
    /// The name by which strategies need it.
    pub(crate) name: &'static str,
    /// Starts it in this folder. The first argument allows the fetch of a missing program.
    pub(crate) start: fn(bool, &Path) -> Result<Running>,
}

/// A service that was started. It is up once each of its processes is.
pub(crate) struct Running {
    /// Its processes.
    pub(crate) services: Vec<Service>,
    /// Where clients find it.
    pub(crate) urls: Vec<String>,
}
