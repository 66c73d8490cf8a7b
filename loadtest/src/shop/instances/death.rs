//! Detection of an instance's death, by the connections that end with it.

use std::net::SocketAddr;
use std::sync::Arc;
use std::time::{Duration, Instant};

use tokio::io::AsyncReadExt;
use tokio::net::TcpStream;
use tokio::sync::SetOnce;
use tokio::task::JoinSet;
use tokio::time::{sleep, timeout};

use super::{ANSWERS_WITHIN, Instances};

/// The pause before a new connection to an instance that closed an idle one.
const RECONNECT_AFTER: Duration = Duration::from_millis(200);

impl Instances {
    /// Holds a connection to each instance from now on.
    pub async fn watch(&self) -> DeathWatch {
        let died = Arc::new(SetOnce::new());
        let mut held = JoinSet::new();
        for at in self.addresses().await {
            let known = self.ask(at).await.and_then(|identity| identity.process);
            if let Some(connection) = connect(at).await {
                held.spawn(self.clone().hold(at, connection, known, died.clone()));
            }
        }
        DeathWatch { died, _held: held }
    }

    /// Watches one connection. A process that lives on may also close it. The instance has died if its address is
    /// silent right afterwards or another process answers there: an instance can be restarted before its death is
    /// noticed.
    async fn hold(self, at: SocketAddr, mut connection: TcpStream, known: Option<String>, died: Arc<SetOnce<Instant>>) {
        loop {
            // No request was sent, so any result of this read means that the connection is over.
            let _ = connection.read(&mut [0]).await;
            let ended = Instant::now();
            let is_same = match self.ask(at).await {
                Some(identity) => known.is_none() || identity.process == known,
                None => false,
            };
            sleep(if is_same { RECONNECT_AFTER } else { Duration::ZERO }).await;
            match connect(at).await.filter(|_| is_same) {
                Some(again) => connection = again,
                // Another instance may have died at the same time.
                None => return drop(died.set(ended)),
            }
        }
    }
}

async fn connect(at: SocketAddr) -> Option<TcpStream> {
    timeout(ANSWERS_WITHIN, TcpStream::connect(at)).await.ok()?.ok()
}

/// Notices the death of an instance until it is dropped. An instance that serves one connection at a time is blocked
/// until then.
pub struct DeathWatch {
    died: Arc<SetOnce<Instant>>,
    _held: JoinSet<()>,
}

impl DeathWatch {
    /// Returns whether the first instance to die died after `since`. Waits for a death for at most `within`.
    pub async fn died(&self, since: Instant, within: Duration) -> bool {
        timeout(within, self.died.wait()).await.is_ok_and(|at| *at >= since)
    }
}
