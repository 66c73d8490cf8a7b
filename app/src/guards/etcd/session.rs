//! The session of an instance: one lease, renewed while the instance lives. One that has ended is replaced.

use std::sync::{Arc, Mutex as Shared, PoisonError};
use std::time::Duration;

use tokio::sync::Mutex;
use tokio::time::{Instant, MissedTickBehavior, interval_at};
use tokio_util::task::AbortOnDropHandle;

use super::protocol::{Granted, Protocol};
use crate::domain::Error;
use crate::probe::Probe;
use crate::world::World;

/// The current session.
pub(super) struct Sessions {
    protocol: Arc<Protocol>,
    length: Duration,
    /// The probe of the task that renews a session.
    worker: Probe,
    current: Mutex<Arc<Session>>,
}

impl Sessions {
    /// Begins the first session. Its lease is that of a lock, rounded up to the whole seconds of etcd.
    pub(super) async fn open(protocol: Arc<Protocol>, world: &World) -> Result<Self, Error> {
        let worker = Probe::of_worker("session", world.observers.clone());
        let length = world.timeouts.lease;
        let first = Session::begun(protocol.clone(), length, &worker, &worker).await?;
        Ok(Self {
            protocol,
            length,
            worker,
            current: Mutex::new(Arc::new(first)),
        })
    }

    /// Returns the current session. If it has ended, one caller begins a new one for all purchases.
    pub(super) async fn current(&self, probe: &Probe) -> Result<Arc<Session>, Error> {
        let mut current = self.current.lock().await;
        if !current.is_alive() {
            let anew = Session::begun(self.protocol.clone(), self.length, probe, &self.worker);
            *current = Arc::new(anew.await?);
        }
        Ok(current.clone())
    }
}

/// A lease and its renewal. Dropped, it is no longer renewed and ends.
pub(super) struct Session {
    lease: u64,
    valid_until: ValidUntil,
    _renewal: AbortOnDropHandle<()>,
}

impl Session {
    async fn begun(protocol: Arc<Protocol>, length: Duration, probe: &Probe, worker: &Probe) -> Result<Self, Error> {
        let begun = Instant::now();
        let granted = protocol.grant(length, probe).await?;
        let valid_until = ValidUntil::new(begun + granted.length);
        let renewal = renew(protocol, granted, valid_until.clone(), worker.clone());
        Ok(Self {
            lease: granted.id,
            valid_until,
            _renewal: AbortOnDropHandle::new(tokio::spawn(renewal)),
        })
    }

    /// The lease under which the keys of the session are put.
    pub(super) fn lease(&self) -> u64 {
        self.lease
    }

    /// Whether it may still live, by the clock of this instance. One that has ended never lives again.
    pub(super) fn is_alive(&self) -> bool {
        self.valid_until.is_ahead()
    }

    /// Called when etcd does not know its lease.
    pub(super) fn end(&self) {
        self.valid_until.set(Instant::now());
    }
}

/// The end of a session, unless it is renewed before.
#[derive(Clone)]
struct ValidUntil(Arc<Shared<Instant>>);

impl ValidUntil {
    fn new(until: Instant) -> Self {
        Self(Arc::new(Shared::new(until)))
    }

    fn is_ahead(&self) -> bool {
        Instant::now() < *self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn set(&self, until: Instant) {
        *self.0.lock().unwrap_or_else(PoisonError::into_inner) = until;
    }
}

/// Renews the lease every third of it, however long a response takes, until it has ended.
async fn renew(protocol: Arc<Protocol>, granted: Granted, valid_until: ValidUntil, probe: Probe) {
    let every = granted.length / 3;
    let mut ticks = interval_at(Instant::now() + every, every);
    ticks.set_missed_tick_behavior(MissedTickBehavior::Delay);
    loop {
        ticks.tick().await;
        let begun = Instant::now();
        let renewed = protocol.keep_alive(granted.id, &probe).await;
        // A response that comes too late does not revive the session: a new one may have begun.
        if !valid_until.is_ahead() {
            return;
        }
        match renewed {
            Ok(Some(length)) => valid_until.set(begun + length),
            Ok(None) => return valid_until.set(begun),
            // The lease may still be valid: the next renewal will tell.
            Err(error) => tracing::warn!(%error, "the session was not renewed"),
        }
    }
}
