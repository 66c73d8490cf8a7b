//! The death of an instance, by the connections that end with it.

use std::net::SocketAddr;
use std::sync::Arc;
use std::time::{Duration, Instant};

use tokio::io::AsyncReadExt;
use tokio::net::TcpStream;
use tokio::sync::SetOnce;
use tokio::task::JoinSet;
use tokio::time::{sleep, timeout};

use super::{ANSWERS_WITHIN, Identity, Instances};

/// How long an instance that closes an idle connection is left alone before the next one is held.
const HOLD_AGAIN: Duration = Duration::from_millis(200);

/// The death of an instance.
#[derive(Clone, Debug)]
pub struct Death {
    /// Its name, as far as it said so.
    pub instance: Option<String>,
    /// When its connections ended.
    pub at: Instant,
}

impl Instances {
    /// Holds a connection to each instance from now on.
    pub async fn watch(&self) -> DeathWatch {
        let died = Arc::new(SetOnce::new());
        let mut held = JoinSet::new();
        for at in self.addresses().await {
            let known = self.ask(at).await;
            if let Some(connection) = connect(at).await {
                held.spawn(self.clone().hold(at, connection, known, died.clone()));
            }
        }
        DeathWatch { died, _held: held }
    }

    /// A connection can be closed by a process that lives on. It has died if nobody answers at its address right after,
    /// or another process does: an instance can be back sooner than it was missed.
    async fn hold(self, at: SocketAddr, mut connection: TcpStream, known: Option<Identity>, died: Arc<SetOnce<Death>>) {
        let (instance, process) = known.map_or((None, None), |known| (known.instance, known.process));
        loop {
            // Nothing was asked, so whatever is read is the end, or as good as one.
            let _ = connection.read(&mut [0]).await;
            let ended = Instant::now();
            let is_same = match self.ask(at).await {
                Some(identity) => process.is_none() || identity.process == process,
                None => false,
            };
            sleep(if is_same { HOLD_AGAIN } else { Duration::ZERO }).await;
            match connect(at).await.filter(|_| is_same) {
                Some(again) => connection = again,
                // Another instance may have died at the same time.
                None => return drop(died.set(Death { instance, at: ended })),
            }
        }
    }
}

async fn connect(at: SocketAddr) -> Option<TcpStream> {
    timeout(ANSWERS_WITHIN, TcpStream::connect(at)).await.ok()?.ok()
}

/// Notices the death of an instance, until it is dropped: an instance that serves one at a time answers nobody else as
/// long as a connection to it is held.
pub struct DeathWatch {
    died: Arc<SetOnce<Death>>,
    _held: JoinSet<()>,
}

impl DeathWatch {
    /// The death of the first instance to die, if it died since then or does so within a time from now.
    pub async fn died(&self, since: Instant, within: Duration) -> Option<Death> {
        let died = timeout(within, self.died.wait()).await.ok()?;
        (died.at >= since).then(|| died.clone())
    }
}
