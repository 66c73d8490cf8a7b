//! Services that only some strategies need, started when one of them is to be played. One file each, and one list.

use std::path::Path;

use anyhow::{Context, Result};

use crate::Service;

/// The one list: each file with the kind in it.
macro_rules! list {
    ($($file:ident,)*) => {
        $(mod $file;)*

        const ALL: &[Kind] = &[$($file::KIND,)*];
    };
}

list! {
    redis_nodes,
    sql_2,
    zookeeper,
    etcd,
}

/// A kind of service.
pub(crate) struct Kind {
    /// The name by which strategies need it.
    pub(crate) name: &'static str,
    /// Starts it in this folder; whether its program may be fetched comes first.
    pub(crate) start: fn(bool, &Path) -> Result<Running>,
}

/// A service that was started. It is up only after each of its processes is.
pub(crate) struct Running {
    /// Its processes.
    pub(crate) services: Vec<Service>,
    /// Where clients find it.
    pub(crate) urls: Vec<String>,
}

/// The kind of that name.
pub(crate) fn find(name: &str) -> Result<&'static Kind> {
    let known = || ALL.iter().map(|kind| kind.name).collect::<Vec<_>>().join(", ");
    let found = ALL.iter().find(|kind| kind.name == name);
    found.with_context(|| format!("{name} cannot be started here, only {}", known()))
}
