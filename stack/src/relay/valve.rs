//! What happens on the connections of one client of a relay.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use tokio::sync::watch;

use super::change::Change;
use super::connection::Line;
use super::late::{LateRequest, LateRequests};
use super::treatment::Treatment;
use crate::service_location::ServiceLocation;

/// The treatment of the connections of one client, and the number of pieces that it affected.
pub(crate) struct Valve {
    treatment: watch::Sender<Treatment>,
    /// Connections so far: the next one gets this number.
    accepted: AtomicU64,
    affected: Arc<AtomicU64>,
    late: Arc<LateRequests>,
}

impl Valve {
    /// Passes everything.
    pub(crate) fn new() -> Valve {
        Valve {
            treatment: watch::Sender::new(Treatment::default()),
            accepted: AtomicU64::default(),
            affected: Arc::default(),
            late: Arc::default(),
        }
    }

    /// Returns the next connection to `target`.
    pub(super) fn line(&self, target: ServiceLocation) -> Line {
        Line {
            target,
            number: self.accepted.fetch_add(1, Ordering::SeqCst),
            treatment: self.treatment.subscribe(),
            affected: self.affected.clone(),
            late: self.late.clone(),
        }
    }

    /// Changes the treatment, and counts from 0 again.
    pub(crate) fn change(&self, change: Change) {
        let accepted = self.accepted.load(Ordering::SeqCst);
        self.treat(|now| change.make(now, accepted));
    }

    /// Returns how many pieces were affected since the last change.
    pub(crate) fn affected(&self) -> u64 {
        self.affected.load(Ordering::SeqCst)
    }

    pub(super) fn late_requests(&self) -> Vec<LateRequest> {
        self.late.take()
    }

    /// Ends every connection.
    pub(super) fn end(&self) {
        self.treat(|now| now.is_over = true);
    }

    /// Returns when [`Valve::end`] was called.
    pub(super) async fn is_over(&self) {
        // The sender lives as long as this.
        let _ = self.treatment.subscribe().wait_for(|now| now.is_over).await;
    }

    fn treat(&self, change: impl FnOnce(&mut Treatment)) {
        self.treatment.send_modify(|now| {
            self.affected.store(0, Ordering::SeqCst);
            change(now);
        });
    }
}
