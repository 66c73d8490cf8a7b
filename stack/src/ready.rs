//! Asks a program in its own protocol whether it serves. A log or a fixed wait would prove nothing.

use std::io::{Read, Write};
use std::net::{SocketAddr, TcpStream};
use std::os::unix::net::UnixStream;
use std::path::{Path, PathBuf};
use std::time::Duration;

use anyhow::{Context, Result, bail, ensure};

use crate::address;
use crate::http;
use crate::postgres;
use crate::server_elsewhere::ServerElsewhere;
use crate::service_location::ServiceLocation;

/// A paused program accepts connections but does not answer; a program that is busy with a crowd answers late.
pub(crate) const ANSWER_LIMIT: Duration = Duration::from_secs(1);

/// The answers of a Redis that serves: to everybody, and to those that know its password.
const PONG: &[u8; 7] = b"+PONG\r\n";
const NO_PASSWORD: &[u8; 7] = b"-NOAUTH";

/// The question whose answer means "ready".
#[derive(Clone, Debug)]
pub enum Ready {
    /// `PING` on the Unix socket is answered with `PONG`.
    Redis(PathBuf),
    /// `PING` at the port is answered with `PONG`, or with the demand for a password.
    RedisPort(SocketAddr),
    /// The server greets on the Unix socket, and the folder of the database is there.
    MariaDb {
        /// The Unix socket.
        socket: PathBuf,
        /// The database's folder inside the data folder.
        database: PathBuf,
    },
    /// A startup packet on the Unix socket is answered by a message about authentication.
    Postgres(PathBuf),
    /// `GET /readyz` is answered with 200.
    Http(SocketAddr),
    /// `srvr` is answered with the version; a server that does not serve yet says so instead.
    ZooKeeper(SocketAddr),
    /// `GET /health` is answered with 200.
    Etcd(SocketAddr),
    /// A server in a container answers in its own protocol.
    Elsewhere(ServerElsewhere),
    /// The program serves nobody; it has done its work when it has ended without an error.
    Ended,
}

impl Ready {
    /// Returns where the program listens; none for one that serves nobody.
    pub(crate) fn location(&self) -> Option<ServiceLocation> {
        match self {
            Ready::Redis(socket) | Ready::MariaDb { socket, .. } | Ready::Postgres(socket) => {
                Some(ServiceLocation::Socket(socket.clone()))
            }
            Ready::RedisPort(address) | Ready::Http(address) | Ready::ZooKeeper(address) | Ready::Etcd(address) => {
                Some(ServiceLocation::Port(*address))
            }
            Ready::Elsewhere(_) | Ready::Ended => None,
        }
    }

    /// Returns the URL of a Redis, for administration; none for another program.
    pub(crate) fn redis_url(&self) -> Option<String> {
        match self {
            Ready::Redis(socket) => Some(address::redis(socket)),
            Ready::RedisPort(address) => address::redis_at(*address).ok(),
            Ready::Elsewhere(server) => server.redis_url(),
            _ => None,
        }
    }

    /// Asks once.
    ///
    /// # Errors
    ///
    /// When the program is not ready; the message says why.
    pub fn check(&self) -> Result<()> {
        match self {
            Ready::Redis(socket) => ping(connect(socket)?, &[PONG]),
            Ready::RedisPort(address) => ping(connect_to(*address)?, &[PONG, NO_PASSWORD]),
            Ready::MariaDb { socket, database } => {
                greeting(connect(socket)?)?;
                ensure!(database.is_dir(), "{} is missing", database.display());
                Ok(())
            }
            Ready::Postgres(socket) => authentication(connect(socket)?),
            Ready::Http(address) => get(*address, "/readyz"),
            Ready::ZooKeeper(address) => srvr(connect_to(*address)?),
            Ready::Etcd(address) => get(*address, "/health"),
            Ready::Elsewhere(server) => server.check(),
            Ready::Ended => bail!("it has not ended yet"),
        }
    }
}

pub(crate) fn get(address: SocketAddr, path: &str) -> Result<()> {
    match http::status_of_get(address, path, ANSWER_LIMIT)? {
        200 => Ok(()),
        status => bail!("GET http://{address}{path} is answered with {status}"),
    }
}

pub(crate) fn srvr(mut stream: impl Read + Write) -> Result<()> {
    const VERSION: &[u8] = b"Zookeeper version";
    stream.write_all(b"srvr").context("could not send srvr")?;
    let mut answer = [0; VERSION.len()];
    stream.read_exact(&mut answer).context("srvr was not answered")?;
    ensure!(
        answer == VERSION,
        "srvr was answered with {:?}",
        String::from_utf8_lossy(&answer)
    );
    Ok(())
}

fn ping(mut stream: impl Read + Write, good: &[&[u8; 7]]) -> Result<()> {
    stream.write_all(b"PING\r\n").context("could not send PING")?;
    let mut answer = [0; 7];
    stream.read_exact(&mut answer).context("PING was not answered")?;
    // While it loads data it answers too, with an error.
    ensure!(
        good.contains(&&answer),
        "PING was answered with {:?}",
        String::from_utf8_lossy(&answer)
    );
    Ok(())
}

/// The server listens early but greets only after its init file has been run, so a greeting means that the database exists.
pub(crate) fn greeting(mut stream: impl Read) -> Result<()> {
    const PROTOCOL_VERSION: u8 = 10;
    let mut packet = [0; 5];
    stream.read_exact(&mut packet).context("no greeting")?;
    ensure!(
        packet[4] == PROTOCOL_VERSION,
        "refused: it greets with {:#x} instead of its version",
        packet[4]
    );
    Ok(())
}

/// The server listens early too, but then it refuses: it starts up, or recovers what was committed before a crash. Otherwise its
/// first message is about authentication, whether that is needed or not.
pub(crate) fn authentication(mut stream: impl Read + Write) -> Result<()> {
    const AUTHENTICATION: u8 = b'R';
    let sent = stream.write_all(&postgres::startup_packet());
    sent.context("could not send a startup packet")?;
    let mut answer = [0; 9];
    stream
        .read_exact(&mut answer)
        .context("the startup packet was not answered")?;
    ensure!(
        answer[0] == AUTHENTICATION,
        "the startup packet was answered with {:?}",
        String::from_utf8_lossy(&answer)
    );
    Ok(())
}

/// Connects to a server that listens at a port.
pub(crate) fn connect_to(address: SocketAddr) -> Result<TcpStream> {
    let stream = TcpStream::connect_timeout(&address, ANSWER_LIMIT);
    let stream = stream.with_context(|| format!("nobody listens on {address}"))?;
    stream.set_read_timeout(Some(ANSWER_LIMIT))?;
    stream.set_write_timeout(Some(ANSWER_LIMIT))?;
    Ok(stream)
}

fn connect(socket: &Path) -> Result<UnixStream> {
    let stream = UnixStream::connect(socket).with_context(|| format!("nobody listens on {}", socket.display()))?;
    stream.set_read_timeout(Some(ANSWER_LIMIT))?;
    stream.set_write_timeout(Some(ANSWER_LIMIT))?;
    Ok(stream)
}
