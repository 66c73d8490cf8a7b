//! PostgreSQL, a store that only some strategies sell from.

use std::path::Path;

use anyhow::{Context, Result};

use super::kind::{Kind, Running};
use crate::address;
use crate::locate::locate;
use crate::ports::ReservedPorts;
use crate::postgres;
use crate::server_kind::ServerKind;
use crate::service_kind::ServiceKind;

pub(super) const KIND: Kind = Kind {
    of: ServiceKind::Pg,
    start,
};

fn start(fetch: bool, folder: &Path) -> Result<Running> {
    let program = locate(ServerKind::Postgres, fetch)?;
    let url = address::postgres(&postgres::socket(folder, postgres::PORT));
    Ok(Running {
        services: vec![postgres::start(&program, folder)?],
        urls: vec![url.context("its socket has no folder")?],
        _ports: ReservedPorts::default(),
    })
}
