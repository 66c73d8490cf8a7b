//! A lease and its renewal. The renewal starts with the grant, since the lease can end in the queue, too.

use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use tokio::time::{Instant, sleep};
use tokio_util::task::AbortOnDropHandle;

use super::protocol::{Granted, Protocol};
use crate::domain::Error;
use crate::probe::Probe;

/// A lease. Dropped without being revoked, it is no longer renewed and ends.
pub(super) struct Lease {
    protocol: Arc<Protocol>,
    id: u64,
    valid_until: Arc<Mutex<Instant>>,
    renewal: AbortOnDropHandle<()>,
}

impl Lease {
    /// Returns a new lease of `length`, rounded up to the whole seconds of etcd, for a key under `prefix`.
    pub(super) async fn granted(
        protocol: Arc<Protocol>,
        length: Duration,
        prefix: &str,
        probe: &Probe,
    ) -> Result<Self, Error> {
        let begun = Instant::now();
        let granted = protocol.grant(length, prefix, probe).await?;
        let valid_until = Arc::new(Mutex::new(begun + granted.length));
        let renewal = renew(protocol.clone(), granted, valid_until.clone(), probe.of_renewal());
        Ok(Self {
            protocol,
            id: granted.id,
            valid_until,
            renewal: AbortOnDropHandle::new(tokio::spawn(renewal)),
        })
    }

    pub(super) fn id(&self) -> u64 {
        self.id
    }

    /// Whether the lease is known to be valid, by the clock of this instance.
    pub(super) fn is_kept(&self) -> bool {
        Instant::now() < *self.valid_until.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Ends the lease and deletes its key. False when the lease had ended before.
    pub(super) async fn revoke(self, probe: &Probe) -> Result<bool, Error> {
        self.renewal.abort();
        self.protocol.revoke(self.id, probe).await
    }
}

async fn renew(protocol: Arc<Protocol>, granted: Granted, valid_until: Arc<Mutex<Instant>>, probe: Probe) {
    loop {
        sleep(granted.length / 3).await;
        let begun = Instant::now();
        let renewed = protocol.keep_alive(granted.id, &probe).await;
        let until = match renewed {
            Ok(Some(length)) => begun + length,
            Ok(None) => begun,
            // The lease may still be valid: the next renewal will tell.
            Err(error) => {
                tracing::warn!(%error, "the lease was not renewed");
                continue;
            }
        };
        *valid_until.lock().unwrap_or_else(PoisonError::into_inner) = until;
        if until == begun {
            return;
        }
    }
}
