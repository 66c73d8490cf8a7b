//! Detection of an instance's death, by the connections that end with it.

use std::net::SocketAddr;
use std::sync::Arc;
use std::time::{Duration, Instant};

use tokio::io::AsyncReadExt;
use tokio::net::TcpStream;
use tokio::sync::SetOnce;
use tokio::task::JoinSet;
use tokio::time::{sleep, timeout};

use super::{ANSWERS_WITHIN, Identity, Instances, Listener};

/// The pause between two questions to an instance that is dead.
const ASK_EVERY: Duration = Duration::from_millis(20);

/// The pause before a new connection to an instance that closed an idle one.
const RECONNECT_AFTER: Duration = Duration::from_millis(200);

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
        let (died, back) = (Arc::new(SetOnce::new()), Arc::new(SetOnce::new()));
        let mut held = JoinSet::new();
        for listener in self.listeners().await {
            let known = self.ask(&listener).await;
            if let Some(connection) = connect(listener.at).await {
                held.spawn(
                    self.clone()
                        .hold(listener, connection, known, died.clone(), back.clone()),
                );
            }
        }
        DeathWatch {
            died,
            back,
            _held: held,
        }
    }

    /// Watches one connection. A process that lives on may also close it. The instance has died if its address is
    /// silent right afterwards or another process answers there: an instance can be restarted before its death is
    /// noticed.
    async fn hold(
        self,
        listener: Listener,
        mut connection: TcpStream,
        known: Option<Identity>,
        died: Arc<SetOnce<Death>>,
        back: Arc<SetOnce<Instant>>,
    ) {
        let (instance, process) = known.map_or((None, None), |known| (known.instance, known.process));
        loop {
            // No request was sent, so any result of this read means that the connection is over.
            let _ = connection.read(&mut [0]).await;
            let ended = Instant::now();
            let is_same = match self.ask(&listener).await {
                Some(identity) => process.is_none() || identity.process == process,
                None => false,
            };
            sleep(if is_same { RECONNECT_AFTER } else { Duration::ZERO }).await;
            match connect(listener.at).await.filter(|_| is_same) {
                Some(again) => connection = again,
                // Another instance may have died at the same time.
                None if died.set(Death { instance, at: ended }).is_err() => return,
                None => return drop(back.set(self.silent_until(&listener, ended).await)),
            }
        }
    }

    /// Asks a dead instance until it answers. Returns when the last question was sent that it did not answer.
    async fn silent_until(&self, listener: &Listener, ended: Instant) -> Instant {
        let mut silent = ended;
        loop {
            let asked = Instant::now();
            if self.ask(listener).await.is_some() {
                return silent;
            }
            silent = asked;
            sleep(ASK_EVERY).await;
        }
    }
}

async fn connect(at: SocketAddr) -> Option<TcpStream> {
    timeout(ANSWERS_WITHIN, TcpStream::connect(at)).await.ok()?.ok()
}

/// Notices the death of an instance until it is dropped. An instance that serves one connection at a time is blocked
/// until then.
pub struct DeathWatch {
    died: Arc<SetOnce<Death>>,
    back: Arc<SetOnce<Instant>>,
    _held: JoinSet<()>,
}

impl DeathWatch {
    /// Returns the first death, if it came after `since`. Waits for a death for at most `within`.
    pub async fn died(&self, since: Instant, within: Duration) -> Option<Death> {
        let died = timeout(within, self.died.wait()).await.ok()?;
        (died.at >= since).then(|| died.clone())
    }

    /// Returns until when the first dead instance was silent; `None` while it is.
    pub fn back(&self) -> Option<Instant> {
        self.back.get().copied()
    }
}
