//! Redis on a private socket, with nothing kept on disk.

use std::fs;
use std::path::{Path, PathBuf};

use anyhow::{Context, Result};

use crate::{Launch, Program, Ready, Service};

/// The one that every shop sells from.
pub(crate) const NAME: &str = "redis";

pub(crate) fn socket(folder: &Path, name: &str) -> PathBuf {
    folder.join(format!("{name}.sock"))
}

/// A restart comes back empty: without persistence this is what a crash of Redis means.
pub(crate) fn start(program: &Program, folder: &Path, name: &str) -> Result<Service> {
    let socket = socket(folder, name);
    let configuration = folder.join(format!("{name}.conf"));
    let lines = [
        "port 0".to_owned(),
        format!("unixsocket \"{}\"", socket.display()),
        "unixsocketperm 700".to_owned(),
        "save \"\"".to_owned(),
        "appendonly no".to_owned(),
        format!("dir \"{}\"", folder.display()),
    ];
    fs::write(&configuration, lines.join("\n") + "\n")
        .with_context(|| format!("could not write {}", configuration.display()))?;
    let launch = Launch::from(program).arg(configuration);
    Service::start(name, launch, Ready::Redis(socket), folder)
}
