//! Redis on a private socket, with nothing kept on disk.

use std::fs;
use std::path::{Path, PathBuf};

use anyhow::{Context, Result};

use crate::{Launch, Program, Ready, Service};

pub(crate) fn socket(folder: &Path) -> PathBuf {
    folder.join("redis.sock")
}

/// A restart comes back empty: without persistence this is what a crash of Redis means.
pub(crate) fn start(program: &Program, folder: &Path) -> Result<Service> {
    let socket = socket(folder);
    let configuration = folder.join("redis.conf");
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
    Service::start("redis", launch, Ready::Redis(socket), folder)
}
