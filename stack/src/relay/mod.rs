//! A relay before a server passes bytes on, delays them or drops them, as a network in trouble does.
//!
//! It does not interpret the bytes. It copies each of them, so it stands only where a fault needs it.

mod alarm;
mod connection;
mod instance;
mod late;
mod treatment;

use std::fs;
use std::io;
use std::net::SocketAddr;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering};
use std::thread::{self, JoinHandle};
use std::time::Duration;

use anyhow::{Context, Result};
use tokio::sync::{Semaphore, watch};

use self::connection::Line;
pub use self::instance::InstanceRelays;
pub use self::late::LateRequest;
use self::late::LateRequests;
pub use self::treatment::Direction;
use self::treatment::Treatment;
use crate::postgres;
use crate::service_location::{Listener, ServiceLocation};

/// The most connections at once; further ones wait.
const MAX_CONNECTIONS: usize = 4_096;

/// Numbers the sockets. Their names are short, because a socket's path has to be.
static NEXT: AtomicUsize = AtomicUsize::new(1);

/// A listener before a server, until it is dropped. Every method may be called from any thread.
pub struct Relay {
    at: ServiceLocation,
    target: ServiceLocation,
    treatment: watch::Sender<Treatment>,
    /// Connections so far: the next one gets this number.
    accepted: Arc<AtomicU64>,
    affected: Arc<AtomicU64>,
    late: Arc<LateRequests>,
    thread: Option<JoinHandle<()>>,
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
        let (treatment, current) = watch::channel(Treatment::default());
        let (accepted, affected) = (Arc::<AtomicU64>::default(), Arc::<AtomicU64>::default());
        let late = Arc::<LateRequests>::default();
        let line = Line {
            target: target.clone(),
            number: 0,
            treatment: current,
            affected: affected.clone(),
            late: late.clone(),
        };
        let count = accepted.clone();
        let thread = thread::Builder::new().name("relay".to_owned()).spawn(move || {
            runtime.block_on(serve(listener, line, &count));
            // Dropped here: connections end with the relay.
        })?;
        Ok(Relay {
            at,
            target,
            treatment,
            accepted,
            affected,
            late,
            thread: Some(thread),
        })
    }

    /// Returns where it listens.
    pub fn at(&self) -> &ServiceLocation {
        &self.at
    }

    /// Returns where it forwards to.
    pub(crate) fn target(&self) -> &ServiceLocation {
        &self.target
    }

    /// Passes everything at once, also bytes that were held back. Closes each connection on which a reply was lost: the next
    /// reply would be taken for it. Closes the client's side of each connection on which a request was kept.
    pub fn pass(&self) {
        self.treat(|now| *now = now.passing());
    }

    /// Delays the bytes of this direction. Their order stays.
    pub fn delay(&self, direction: Direction, by: Duration) {
        self.treat(|now| *now.delay_mut(direction) = by);
    }

    /// Holds back everything in both directions until [`Relay::pass`]. No connection ends, and nothing is lost.
    pub fn silence(&self) {
        self.treat(|now| now.silent_below = u64::MAX);
    }

    /// Does the same to the connections that exist now; new ones are served.
    pub fn silence_open(&self) {
        let accepted = self.accepted.load(Ordering::SeqCst);
        self.treat(|now| now.silent_below = accepted);
    }

    /// Drops all replies of the store; requests still reach it. What a store sends without a request arrives, such as a message
    /// to a subscriber.
    pub fn lose_replies(&self) {
        self.treat(|now| now.loses_replies = true);
    }

    /// Keeps each request until it is told to arrive. Its client waits until [`Relay::pass`], and then its connection is closed.
    pub fn keep_requests(&self) {
        self.treat(|now| now.keeps_requests = true);
    }

    /// Returns the requests that were kept since the last call, the oldest first.
    pub fn late_requests(&self) -> Vec<LateRequest> {
        self.late.take()
    }

    /// Closes every connection with all bytes in transit; new ones are served.
    pub fn cut(&self) {
        self.treat(|now| now.cuts += 1);
    }

    /// Returns how many pieces were delayed, held back, kept or lost, and new connections held back or old ones cut, since the last
    /// change.
    pub fn affected(&self) -> u64 {
        self.affected.load(Ordering::SeqCst)
    }

    fn treat(&self, change: impl FnOnce(&mut Treatment)) {
        self.treatment.send_modify(|now| {
            self.affected.store(0, Ordering::SeqCst);
            change(now);
        });
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
        self.treat(|now| now.is_over = true);
        if let Some(thread) = self.thread.take() {
            // A panic in it makes no difference any more.
            let _ = thread.join();
        }
        // A socket that stays is removed with its folder.
        if let Some(socket) = self.at.socket() {
            let _ = fs::remove_file(socket);
        }
    }
}

async fn serve(listener: Listener, line: Line, accepted: &AtomicU64) {
    let mut treatment = line.treatment.clone();
    let room = Arc::new(Semaphore::new(MAX_CONNECTIONS));
    let accept = async {
        // The semaphore is never closed.
        while let Ok(permit) = room.clone().acquire_owned().await {
            let Ok(client) = listener.accept().await else {
                // Out of files, most likely: some connections have to end first.
                tokio::time::sleep(Duration::from_millis(10)).await;
                continue;
            };
            let mut line = line.clone();
            line.number = accepted.fetch_add(1, Ordering::SeqCst);
            tokio::spawn(async move {
                line.forward(client).await;
                drop(permit);
            });
        }
    };
    tokio::select! {
        () = accept => {}
        _ = treatment.wait_for(|now| now.is_over) => {}
    }
}
