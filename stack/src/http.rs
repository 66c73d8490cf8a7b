//! One GET, enough to ask a readiness route.

use std::io::{BufRead, BufReader, Write};
use std::net::{SocketAddr, TcpStream};
use std::time::Duration;

use anyhow::{Context, Result};

/// The status of a GET.
///
/// # Errors
///
/// When nobody answers within the limit, or not in HTTP.
pub(crate) fn status_of_get(address: SocketAddr, path: &str, limit: Duration) -> Result<u16> {
    let mut stream =
        TcpStream::connect_timeout(&address, limit).with_context(|| format!("nobody listens on {address}"))?;
    stream.set_read_timeout(Some(limit))?;
    stream.set_write_timeout(Some(limit))?;
    write!(
        stream,
        "GET {path} HTTP/1.1\r\nHost: {address}\r\nConnection: close\r\n\r\n"
    )?;
    let mut line = String::new();
    BufReader::new(stream)
        .read_line(&mut line)
        .with_context(|| format!("{address} does not answer"))?;
    let status = line.split(' ').nth(1).and_then(|status| status.parse().ok());
    status.with_context(|| format!("{address} does not speak HTTP: {line:?}"))
}
