//! PostgreSQL on a private socket and a data folder of its own.

mod operator;
mod replica;

use std::ffi::OsStr;
use std::fs;
use std::path::{Path, PathBuf};
use std::time::Duration;

use anyhow::{Context, Result};
use rustix::process::Signal;

pub use self::replica::{PgFailover, PgReplica};
use crate::clock::Clock;
use crate::disk::Disk;
use crate::launch::Launch;
use crate::program::Program;
use crate::ready::Ready;
use crate::service::Service;
use crate::unsynced::Unsynced;

/// The name of its data folder and log.
pub(crate) const NAME: &str = "postgres";

pub(crate) const USER: &str = "oversell";

pub(crate) const DATABASE: &str = "postgres";

/// The usual port. There is no port, but clients look for a socket with its number in the name.
pub(crate) const PORT: u16 = 5432;

/// The name of a socket up to its port.
const SOCKET: &str = ".s.PGSQL.";

/// It takes half a second; this is for a slow disk.
const INITDB_LIMIT: Duration = Duration::from_secs(30);

/// What differs from the defaults.
const SETTINGS: [&str; 8] = [
    // The private folder around the socket keeps other users out.
    "listen_addresses=",
    // Every instance brings its own pool.
    "max_connections=1000",
    "max_prepared_transactions=200",
    "shared_buffers=64MB",
    // No statement of a shop is long enough to be compiled.
    "jit=off",
    // A refused statement is an answer to the shop, not news for the log.
    "log_min_messages=log",
    "log_timezone=UTC",
    "timezone=UTC",
];

pub(crate) fn socket(folder: &Path, port: u16) -> PathBuf {
    folder.join(format!("{SOCKET}{port}"))
}

/// Returns the port in the name of a socket; none where clients of PostgreSQL would not look for it.
pub(crate) fn port_of(socket: &Path) -> Option<u16> {
    let name = socket.file_name().and_then(OsStr::to_str)?;
    name.strip_prefix(SOCKET)?.parse().ok()
}

/// Returns the port of a relay, which is never that of a server. Relays that many numbers apart do not live at the same time.
pub(crate) fn port_of_relay(number: usize) -> u16 {
    let many = usize::from(PORT - 1);
    u16::try_from(1 + number % many).unwrap_or(1)
}

/// Returns the message with which a client begins.
pub(crate) fn startup_packet() -> Vec<u8> {
    const PROTOCOL_3_0: u32 = 3 << 16;
    let parameters = format!("user\0{USER}\0database\0{DATABASE}\0\0");
    let length = 8 + parameters.len() as u32;
    let mut packet = length.to_be_bytes().to_vec();
    packet.extend(PROTOCOL_3_0.to_be_bytes());
    packet.extend(parameters.as_bytes());
    packet
}

/// A restart keeps what was committed: the data folder stays.
pub(crate) fn start(program: &Program, folder: &Path) -> Result<Service> {
    let data = data(folder, NAME);
    initdb(program, folder, NAME)?;
    let launch = launch(program, folder, NAME, PORT)
        .clock(Clock::new(folder, NAME)?)
        .disk(Disk::new(folder, NAME, &data)?)
        .unsynced(Unsynced::new(folder, NAME, &data)?);
    Service::start(NAME, launch, ready(folder, PORT), folder)
}

/// Returns its data folder.
fn data(folder: &Path, name: &str) -> PathBuf {
    folder.join(name)
}

fn ready(folder: &Path, port: u16) -> Ready {
    Ready::Postgres(socket(folder, port))
}

/// Returns the command of a server whose data folder is filled.
fn launch(program: &Program, folder: &Path, name: &str, port: u16) -> Launch {
    let settings = SETTINGS.iter().flat_map(|setting| ["-c", setting]);
    Launch::from(program)
        .arg("-D")
        .arg(data(folder, name))
        .arg("-k")
        .arg(folder)
        .args(["-p", &port.to_string()])
        .args(settings)
        .without_root()
        // Killed, it would leave shared memory to the system, where nobody removes it. This ends it at once, without a checkpoint.
        .ends_on(Signal::QUIT)
}

/// Makes and fills the data folder.
fn initdb(program: &Program, folder: &Path, name: &str) -> Result<()> {
    let initdb = Launch::from(program)
        .program(beside(program, "initdb")?)
        .arg("-D")
        .arg(data(folder, name))
        // The machine's own language and users do not matter. A crash after this is no crash of the machine.
        .args(["--no-sync", "--no-locale", "--encoding=UTF8", "-A", "trust", "-U", USER])
        .without_root();
    Service::start(format!("{name}-initdb"), initdb, Ready::Ended, folder)?.wait_ready(INITDB_LIMIT)
}

/// Returns another program of the same version. A link on the `PATH` may lead to the server.
fn beside(program: &Program, name: &str) -> Result<PathBuf> {
    let server = &program.path;
    let real = fs::canonicalize(server).with_context(|| format!("could not find {}", server.display()))?;
    Ok(real.with_file_name(name))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_socket_of_a_relay_is_never_that_of_a_server() {
        let ports = (0..100_000).map(port_of_relay);
        assert!(ports.into_iter().all(|port| (1..PORT).contains(&port)));
    }
}
