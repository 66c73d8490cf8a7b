//! Listeners in front of the real one. They end connections as no HTTP server does.

use std::io;
use std::net::SocketAddr;
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use tokio::io::{AsyncRead, AsyncReadExt, AsyncWriteExt, copy_bidirectional};
use tokio::net::{TcpListener, TcpStream};
use tokio::task::{AbortHandle, JoinSet};

/// The open connections.
#[derive(Default)]
pub struct OpenConnections {
    open: Mutex<Vec<AbortHandle>>,
    silent_until: Mutex<Option<Instant>>,
}

impl OpenConnections {
    /// Closes all of them.
    pub fn close_all(&self) {
        for connection in self.open.lock().unwrap().drain(..) {
            connection.abort();
        }
    }

    /// Lets every new connection wait that long for its first byte.
    pub fn silence(&self, lasts: Duration) {
        *self.silent_until.lock().unwrap() = Some(Instant::now() + lasts);
    }

    /// Returns how long new connections still have to wait.
    pub fn silence_left(&self) -> Duration {
        let until = *self.silent_until.lock().unwrap();
        until.map_or(Duration::ZERO, |until| until.saturating_duration_since(Instant::now()))
    }
}

async fn inner_listener() -> io::Result<(TcpListener, SocketAddr)> {
    let inner = TcpListener::bind("127.0.0.1:0").await?;
    let address = inner.local_addr()?;
    Ok((inner, address))
}

/// Forwards all bytes to the listener that it returns, over connections that `connections` can close.
pub async fn through(listener: TcpListener, connections: Arc<OpenConnections>) -> io::Result<TcpListener> {
    let (inner, address) = inner_listener().await?;
    tokio::spawn(async move {
        let mut tasks = JoinSet::new();
        while let Ok((mut client, _)) = listener.accept().await {
            let silence = connections.silence_left();
            let connection = tasks.spawn(async move {
                tokio::time::sleep(silence).await;
                // Without a connection to the server, the client's connection ends.
                if let Ok(mut server) = TcpStream::connect(address).await {
                    let _ = copy_bidirectional(&mut client, &mut server).await;
                }
            });
            connections.open.lock().unwrap().push(connection);
        }
    });
    Ok(inner)
}

/// Forwards one request of each connection to the listener that it returns, and one answer back; then it closes the
/// connection.
pub async fn closing(listener: TcpListener) -> io::Result<TcpListener> {
    let (inner, address) = inner_listener().await?;
    tokio::spawn(async move {
        while let Ok((mut client, _)) = listener.accept().await {
            tokio::spawn(async move {
                let request = message(&mut client).await?;
                let mut server = TcpStream::connect(address).await.ok()?;
                server.write_all(&request).await.ok()?;
                let answer = message(&mut server).await?;
                client.write_all(&answer).await.ok()?;
                client.shutdown().await.ok()
            });
        }
    });
    Ok(inner)
}

/// Reads one HTTP/1.1 message with a given length.
async fn message(from: &mut (impl AsyncRead + Unpin)) -> Option<Vec<u8>> {
    let mut read = Vec::new();
    let end = loop {
        if let Some(end) = read.windows(4).position(|four| four == b"\r\n\r\n") {
            break end + 4;
        }
        if from.read_buf(&mut read).await.ok()? == 0 {
            return None;
        }
    };
    let head = String::from_utf8_lossy(&read[..end]).to_ascii_lowercase();
    let length = head.lines().find_map(|line| line.strip_prefix("content-length:"));
    let length: usize = length.map_or(Some(0), |length| length.trim().parse().ok())?;
    while read.len() < end + length {
        if from.read_buf(&mut read).await.ok()? == 0 {
            return None;
        }
    }
    Some(read)
}
