//! A relay before a server passes bytes on, delays them or drops them, as a network in trouble does.
//!
//! It does not interpret the bytes. It copies each of them, so it stands only where a fault needs it.

mod alarm;
mod change;
mod connection;
mod gate;
mod instance;
mod late;
mod treatment;
mod valve;

use std::fs;
use std::io;
use std::net::{IpAddr, SocketAddr};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::thread::{self, JoinHandle};
use std::time::Duration;

use anyhow::{Context, Result};
use tokio::runtime::Handle;
use tokio::sync::Semaphore;
use tokio::task::yield_now;

pub(crate) use self::change::Change;
use self::connection::Line;
pub(crate) use self::gate::Gate;
pub use self::instance::InstanceRelays;
pub use self::late::LateRequest;
pub use self::treatment::Direction;
use self::valve::Valve;
use crate::faults::RemoteRelay;
use crate::postgres;
use crate::service_location::{Listener, ServiceLocation};

/// The most connections at once; further ones wait.
const MAX_CONNECTIONS: usize = 4_096;

/// How often the connections get a turn, so that bytes that have come go from one side to the other. Each turn asks the system what
/// has come.
const TURNS: usize = 8;

/// Numbers the sockets. Their names are short, because a socket's path has to be.
static NEXT: AtomicUsize = AtomicUsize::new(1);

/// A listener before a server, until it is dropped. Every method may be called from any thread.
pub struct Relay {
    at: ServiceLocation,
    runs: Runs,
}

/// Where a relay runs.
enum Runs {
    Here {
        target: ServiceLocation,
        valve: Arc<Valve>,
        runtime: Handle,
        thread: Option<JoinHandle<()>>,
    },
    /// Behind the service for faults of a shop in containers.
    Elsewhere(RemoteRelay),
}

impl Relay {
    /// Forwards to `target` from a listener of its own: a socket in `folder` if the target is a socket, else a free port.
    ///
    /// # Errors
    ///
    /// When it cannot listen, or the system gives no thread.
    pub fn start(folder: &Path, target: impl Into<ServiceLocation>) -> Result<Relay> {
        let target = target.into();
        let socket = socket(folder, &target, NEXT.fetch_add(1, Ordering::Relaxed));
        Relay::before(target.clone(), || Listener::like(&target, socket)).context("a relay could not listen")
    }

    /// Forwards to `target` from a listener at this address.
    ///
    /// # Errors
    ///
    /// When it cannot listen, or the system gives no thread.
    pub fn start_at(address: SocketAddr, target: SocketAddr) -> Result<Relay> {
        let relay = Relay::before(target.into(), || Ok((Listener::at(address)?, address.into())));
        relay.with_context(|| format!("a relay could not listen at {address}"))
    }

    /// Forwards to `target` from the listener that `listen` makes with a runtime around it.
    fn before(
        target: ServiceLocation,
        listen: impl FnOnce() -> io::Result<(Listener, ServiceLocation)>,
    ) -> Result<Relay> {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
        let listens = {
            let _inside = runtime.enter();
            listen()
        };
        let (listener, at) = match listens {
            Ok(listens) => listens,
            Err(error) => {
                // The caller may be in another runtime, where none may be dropped.
                runtime.shutdown_background();
                return Err(error.into());
            }
        };
        let valve = Arc::new(Valve::new());
        let own = Arc::clone(&valve);
        let before = target.clone();
        let handle = runtime.handle().clone();
        let thread = thread::Builder::new().name("relay".to_owned()).spawn(move || {
            runtime.block_on(async {
                tokio::select! {
                    () = serve(listener, |_| Some(own.line(before.clone()))) => {}
                    () = own.is_over() => {}
                }
            });
            // Dropped here: connections end with the relay.
        })?;
        let runs = Runs::Here {
            target,
            valve,
            runtime: handle,
            thread: Some(thread),
        };
        Ok(Relay { at, runs })
    }

    /// Uses a relay that runs elsewhere.
    pub(crate) fn elsewhere(at: ServiceLocation, relay: RemoteRelay) -> Relay {
        let runs = Runs::Elsewhere(relay);
        Relay { at, runs }
    }

    /// Returns where it listens.
    pub fn at(&self) -> &ServiceLocation {
        &self.at
    }

    /// Returns where it forwards to; none where it runs elsewhere.
    pub(crate) fn target(&self) -> Option<&ServiceLocation> {
        match &self.runs {
            Runs::Here { target, .. } => Some(target),
            Runs::Elsewhere(_) => None,
        }
    }

    /// Passes everything at once, also bytes that were held back. Closes each connection on which a reply was lost: the next
    /// reply would be taken for it. Closes the client's side of each connection on which a request was kept.
    pub fn pass(&self) {
        self.change(Change::Pass);
    }

    /// Delays the bytes of this direction. Their order stays.
    pub fn delay(&self, direction: Direction, by: Duration) {
        self.change(Change::Delay(direction, by));
    }

    /// Holds back everything in both directions until [`Relay::pass`]. No connection ends, and nothing is lost.
    pub fn silence(&self) {
        self.change(Change::Silence);
    }

    /// Does the same to the connections that exist now; new ones are served.
    pub fn silence_open(&self) {
        self.change(Change::SilenceOpen);
    }

    /// Drops all replies of the store; requests still reach it. What a store sends without a request arrives, such as a message
    /// to a subscriber.
    pub fn lose_replies(&self) {
        self.change(Change::LoseReplies);
    }

    /// Keeps each request until it is told to arrive. Its client waits until [`Relay::pass`], and then its connection is closed.
    pub fn keep_requests(&self) {
        self.change(Change::KeepRequests);
    }

    /// Returns the requests that were kept since the last call, the oldest first; none of a relay that runs elsewhere.
    pub fn late_requests(&self) -> Vec<LateRequest> {
        match &self.runs {
            Runs::Here { valve, .. } => valve.late_requests(),
            Runs::Elsewhere(_) => Vec::new(),
        }
    }

    /// Waits until everything that has reached the relay is passed on, or held back or dropped as it is told to. Nothing is known of
    /// a relay that runs elsewhere.
    pub async fn hand_over(&self) {
        let Runs::Here { runtime, .. } = &self.runs else {
            return;
        };
        let turns = runtime.spawn(async {
            for _ in 0..TURNS {
                yield_now().await;
            }
        });
        // It fails only when the relay is gone, and all that it had with it.
        let _ = turns.await;
    }

    /// Closes every connection with all bytes in transit; new ones are served.
    pub fn cut(&self) {
        self.change(Change::Cut);
    }

    /// Returns how many pieces were delayed, held back, kept or lost, and new connections held back or old ones cut, since the last
    /// change. It is 0 for a relay that runs elsewhere and did not confirm that change: then nothing is known to have happened.
    pub fn affected(&self) -> u64 {
        match &self.runs {
            Runs::Here { valve, .. } => valve.affected(),
            Runs::Elsewhere(relay) => relay.affected(),
        }
    }

    fn change(&self, change: Change) {
        match &self.runs {
            Runs::Here { valve, .. } => valve.change(change),
            Runs::Elsewhere(relay) => relay.change(change),
        }
    }
}

/// Returns where that relay listens. A client of PostgreSQL finds no socket of another name.
fn socket(folder: &Path, target: &ServiceLocation, number: usize) -> PathBuf {
    match target.socket().and_then(postgres::port_of) {
        Some(_) => postgres::socket(folder, postgres::port_of_relay(number)),
        None => folder.join(format!("relay-{number}.sock")),
    }
}

impl Drop for Relay {
    fn drop(&mut self) {
        match &mut self.runs {
            Runs::Here { valve, thread, .. } => {
                valve.end();
                if let Some(thread) = thread.take() {
                    // A panic in it makes no difference any more.
                    let _ = thread.join();
                }
                // A socket that stays is removed with its folder.
                if let Some(socket) = self.at.socket() {
                    let _ = fs::remove_file(socket);
                }
            }
            Runs::Elsewhere(relay) => relay.change(Change::Pass),
        }
    }
}

/// Serves each connection by the line for its client. A connection without a line is closed.
async fn serve(listener: Listener, line: impl Fn(Option<IpAddr>) -> Option<Line>) {
    let room = Arc::new(Semaphore::new(MAX_CONNECTIONS));
    // The semaphore is never closed.
    while let Ok(permit) = room.clone().acquire_owned().await {
        let Ok((client, from)) = listener.accept().await else {
            // Out of files, most likely: some connections have to end first.
            tokio::time::sleep(Duration::from_millis(10)).await;
            continue;
        };
        if let Some(line) = line(from) {
            tokio::spawn(async move {
                line.forward(client).await;
                drop(permit);
            });
        }
    }
}
