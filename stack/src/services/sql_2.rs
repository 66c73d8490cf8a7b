//! A second MariaDB server, for a sale that lies in two databases.

use std::path::Path;

use anyhow::Result;

use super::kind::{Kind, Running};
use crate::address;
use crate::locate::locate;
use crate::mariadb;
use crate::ports::ReservedPorts;
use crate::server_kind::ServerKind;
use crate::service_kind::ServiceKind;

pub(super) const KIND: Kind = Kind {
    of: ServiceKind::SecondSql,
    start,
};

/// The name of its socket, data folder and log.
const SERVER: &str = "mariadb-2";

fn start(fetch: bool, folder: &Path) -> Result<Running> {
    let program = locate(ServerKind::MariaDb, fetch)?;
    Ok(Running {
        services: vec![mariadb::start(&program, folder, SERVER)?],
        urls: vec![address::mysql(&mariadb::socket(folder, SERVER), mariadb::DATABASE)],
        _ports: ReservedPorts::default(),
    })
}
