//! The load test's side: one connection, for one request at a time.

use std::io::{BufRead, BufReader, Read, Write};
use std::net::{TcpStream, ToSocketAddrs};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use anyhow::{Context, Result, bail};

use super::MOST_BYTES;

/// The longest wait for a connection.
const CONNECTS_WITHIN: Duration = Duration::from_secs(2);

/// The longest wait for a reply: longer than the service waits for a server that dies.
const REPLIES_WITHIN: Duration = Duration::from_secs(30);

/// A connection to the service for faults. When the last copy is dropped, the service undoes every fault. Every method may be called
/// from any thread, and blocks.
#[derive(Clone)]
pub struct Faults(Arc<Mutex<BufReader<TcpStream>>>);

impl Faults {
    /// Connects to the service at `address`, such as `faults:7070`.
    ///
    /// # Errors
    ///
    /// When no service answers there, it has another token, or it serves another load test.
    pub fn connect(address: &str, token: &str) -> Result<Faults> {
        let connected = || {
            let at = address.to_socket_addrs()?.next().context("the name has no address")?;
            let stream = TcpStream::connect_timeout(&at, CONNECTS_WITHIN)?;
            stream.set_nodelay(true)?;
            stream.set_read_timeout(Some(REPLIES_WITHIN))?;
            stream.set_write_timeout(Some(REPLIES_WITHIN))?;
            anyhow::Ok(stream)
        };
        let stream = connected().with_context(|| format!("there is no service for faults at {address}"))?;
        let faults = Faults(Arc::new(Mutex::new(BufReader::new(stream))));
        faults
            .ask(token)
            .context("the service for faults refuses this load test")?;
        Ok(faults)
    }

    /// Sends a request and returns the value of its reply.
    pub(super) fn ask(&self, request: &str) -> Result<String> {
        // A panic elsewhere may have left half a reply, which then fails here.
        let mut connection = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        connection.get_mut().write_all(format!("{request}\n").as_bytes())?;
        let mut reply = String::new();
        let read = connection.by_ref().take(MOST_BYTES).read_line(&mut reply);
        read.context("the service for faults does not answer")?;
        match reply.strip_suffix('\n').and_then(|reply| reply.split_once(' ')) {
            Some(("ok", value)) => Ok(value.to_owned()),
            Some(("error", why)) => bail!("the service for faults says: {why}"),
            _ => bail!("the service for faults has closed the connection"),
        }
    }
}
