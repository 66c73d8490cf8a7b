//! The machine and programs of a run: enough to judge its figures, and nothing that identifies the machine.

use std::collections::BTreeMap;
use std::fs;

use serde::{Deserialize, Serialize};

/// The machine and the programs of a run.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Environment {
    /// Version of this program.
    pub oversell: String,
    /// Operating system.
    pub os: String,
    /// Kernel release.
    pub kernel: String,
    /// Processor model.
    pub cpu: String,
    /// Processors that can be used.
    pub cpus: usize,
    /// Memory, in MiB.
    pub memory_mib: u64,
    /// Version of Redis.
    pub redis: String,
    /// Version of MariaDB.
    pub mariadb: String,
    /// Version of PostgreSQL, and the level of a transaction that does not choose one, where it was used.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub postgresql: Option<String>,
    /// Version of the nodes of a Redis Cluster, where it was used.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub redis_cluster: Option<String>,
    /// Version of nginx, where it was started here.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub nginx: Option<String>,
    /// Whether certificates of the shop went unchecked.
    #[serde(skip_serializing_if = "std::ops::Not::not", default)]
    pub insecure: bool,
    /// How buyers behave.
    pub load_model: String,
}

impl Environment {
    /// Returns whether the shop was started elsewhere: then its word is all that tells one instance from another.
    pub fn is_elsewhere(&self) -> bool {
        self.nginx.is_none()
    }

    /// Reads the environment of this machine; `stores` holds the versions of the stores.
    pub fn here(mut stores: BTreeMap<&'static str, String>, nginx: Option<String>) -> Self {
        let mut version = |store| stores.remove(store).unwrap_or_default();
        let (redis, mariadb) = (version("redis"), version("sql"));
        Self {
            oversell: env!("CARGO_PKG_VERSION").to_owned(),
            os: field("/etc/os-release", "PRETTY_NAME", '=').unwrap_or_else(|| std::env::consts::OS.to_owned()),
            kernel: read("/proc/sys/kernel/osrelease").trim().to_owned(),
            cpu: field("/proc/cpuinfo", "model name", ':').unwrap_or_else(|| std::env::consts::ARCH.to_owned()),
            cpus: std::thread::available_parallelism().map_or(1, usize::from),
            memory_mib: memory_mib(),
            redis,
            mariadb,
            postgresql: stores.remove("pg"),
            redis_cluster: stores.remove("cluster"),
            nginx,
            insecure: false,
            load_model: "closed: all buyers released at once, each buys again as soon as it is answered".to_owned(),
        }
    }
}

fn read(path: &str) -> String {
    fs::read_to_string(path).unwrap_or_default()
}

fn field(path: &str, name: &str, separator: char) -> Option<String> {
    let text = read(path);
    let line = text.lines().find(|line| line.starts_with(name))?;
    Some(line.split_once(separator)?.1.trim().trim_matches('"').to_owned())
}

fn memory_mib() -> u64 {
    let total = field("/proc/meminfo", "MemTotal", ':').unwrap_or_default();
    let kib = total.trim_end_matches("kB").trim().parse().unwrap_or(0);
    kib / 1024_u64
}
