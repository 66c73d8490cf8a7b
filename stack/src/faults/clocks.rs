//! The clocks of processes in containers, as the service has them: one file for each.
//!
//! A server has its file beside its pipes, and an instance in the folder `instances`, under its address.

use std::net::IpAddr;
use std::path::{Path, PathBuf};

use anyhow::{Context, Result};

use super::supervised::Supervised;
use crate::clock::ClockFile;

/// The file of a server's clock, in the folder with its pipes.
const FILE: &str = "clock";

/// The folder with the clocks of the instances.
const INSTANCES: &str = "instances";

/// Returns the names of all clocks: servers, and addresses of instances.
pub(super) fn all(folder: &Path) -> Vec<String> {
    let servers = Supervised::all(folder).into_iter();
    let mut names: Vec<_> = servers.filter(|server| of_server(folder, server).exists()).collect();
    let instances = folder.join(INSTANCES).read_dir().into_iter().flatten().flatten();
    let addresses = instances.filter_map(|entry| entry.file_name().into_string().ok());
    names.extend(addresses.filter(|address| address.parse::<IpAddr>().is_ok()));
    names
}

/// Returns the clock of that name, one of [`all`].
///
/// # Errors
///
/// When there is none, or its file cannot be opened.
pub(super) fn open(folder: &Path, name: &str) -> Result<ClockFile> {
    let is_known = all(folder).iter().any(|known| known == name);
    let path = match name.parse::<IpAddr>() {
        Ok(_) => folder.join(INSTANCES).join(name),
        Err(_) => of_server(folder, name),
    };
    is_known
        .then_some(path)
        .context("no such clock")
        .and_then(|path| ClockFile::existing(&path))
}

fn of_server(folder: &Path, server: &str) -> PathBuf {
    folder.join(server).join(FILE)
}
