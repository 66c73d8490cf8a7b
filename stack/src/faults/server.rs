//! The service: a listener for a load test, and what it may ask for.

use std::net::SocketAddr;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use anyhow::{Context, Result};
use subtle::ConstantTimeEq;
use tokio::io::{AsyncBufReadExt, AsyncReadExt, AsyncWriteExt, BufReader};
use tokio::net::tcp::OwnedReadHalf;
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::{Mutex, Semaphore};
use tokio::time::{sleep, timeout};

use super::MOST_BYTES;
use super::requests::Parts;
use crate::relay::Gate;

/// The most connections at once, those without the token included.
const MOST_CONNECTIONS: usize = 16;

/// The longest wait for the token.
const TOKEN_WITHIN: Duration = Duration::from_secs(5);

/// The longest wait for the load test before, which is just ending.
const ALONE_WITHIN: Duration = Duration::from_secs(10);

/// A relay before a server.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FaultRelay {
    /// The name of the server, such as `redis`.
    pub server: String,
    /// Where the instances connect.
    pub listen: SocketAddr,
    /// The server, such as `redis:6379`. It need not be there yet.
    pub target: String,
}

/// The parts, and the right to them.
struct Service {
    token: String,
    parts: Parts,
    /// Held by the load test that is served.
    alone: Mutex<()>,
    report: fn(&str),
}

/// Serves load tests that know the token, one after the other, until the runtime around it ends. `folder` holds the pipes of the
/// supervised servers, each in a folder with the name of its server. `report` is told of what is not as
/// before after a load test.
///
/// # Errors
///
/// When it cannot listen.
pub async fn serve_faults(
    listener: TcpListener,
    token: String,
    folder: PathBuf,
    relays: &[FaultRelay],
    report: fn(&str),
) -> Result<()> {
    let gates = relays.iter().map(|relay| {
        let gate = Gate::open(relay.listen, relay.target.clone())?;
        Ok((relay.server.clone(), gate))
    });
    let service = Arc::new(Service {
        token,
        parts: Parts::new(folder, gates.collect::<Result<_>>()?),
        alone: Mutex::new(()),
        report,
    });
    let room = Arc::new(Semaphore::new(MOST_CONNECTIONS));
    loop {
        let permit = room
            .clone()
            .acquire_owned()
            .await
            .context("the semaphore is never closed")?;
        let Ok((connection, _)) = listener.accept().await else {
            // Out of files, most likely: some connections have to end first.
            sleep(Duration::from_millis(10)).await;
            continue;
        };
        let service = Arc::clone(&service);
        tokio::spawn(async move {
            // An error ends the connection: the load test sees that.
            let _ = service.session(connection).await;
            drop(permit);
        });
    }
}

impl Service {
    async fn session(&self, connection: TcpStream) -> Result<()> {
        connection.set_nodelay(true)?;
        let (from, mut to) = connection.into_split();
        let mut from = BufReader::new(from);
        let said = timeout(TOKEN_WITHIN, line(&mut from)).await??.unwrap_or_default();
        if !bool::from(said.as_bytes().ct_eq(self.token.as_bytes())) {
            to.write_all(b"error another token\n").await?;
            return Ok(());
        }
        let Ok(_alone) = timeout(ALONE_WITHIN, self.alone.lock()).await else {
            to.write_all(b"error another load test is at it\n").await?;
            return Ok(());
        };
        let served = async {
            to.write_all(b"ok \n").await?;
            while let Some(request) = line(&mut from).await? {
                let reply = match self.parts.answer(&request).await {
                    Ok(value) => format!("ok {value}\n"),
                    Err(error) => format!("error {}\n", format!("{error:#}").replace('\n', " ")),
                };
                to.write_all(reply.as_bytes()).await?;
            }
            anyhow::Ok(())
        };
        let served = served.await;
        for failed in self.parts.undo().await {
            (self.report)(&failed);
        }
        served
    }
}

/// Returns the next line; `None` at the end.
async fn line(from: &mut BufReader<OwnedReadHalf>) -> Result<Option<String>> {
    let mut bytes = Vec::new();
    from.take(MOST_BYTES).read_until(b'\n', &mut bytes).await?;
    match bytes.strip_suffix(b"\n") {
        Some(line) => Ok(Some(String::from_utf8(line.to_vec())?)),
        None => Ok(None),
    }
}
