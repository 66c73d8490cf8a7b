//! A key in the queue for a lock. It ends with the session of its instance, or when its purchase leaves.

use std::sync::Arc;
use std::time::Duration;

use tokio::runtime::Handle;
use tokio::time::sleep;

use super::protocol::{Protocol, Put};
use super::session::Session;
use crate::domain::Error;
use crate::probe::Probe;

/// The pause before a key that could not be deleted is deleted again.
const AGAIN_AFTER: Duration = Duration::from_millis(200);

/// A key that is put, or about to be put. Dropping it deletes the key, in the background.
pub(super) struct Place {
    pub(super) protocol: Arc<Protocol>,
    pub(super) session: Arc<Session>,
    pub(super) key: String,
    /// The probe for the cleanup on drop; `None` when there is nothing to clean up.
    probe: Option<Probe>,
}

impl Place {
    /// Puts no key yet.
    pub(super) fn new(protocol: Arc<Protocol>, session: Arc<Session>, key: String, probe: &Probe) -> Self {
        Self {
            protocol,
            session,
            key,
            probe: Some(probe.clone()),
        }
    }

    /// Puts the key at the end of the queue; `None` when the session has ended.
    pub(super) async fn put(&self, prefix: &str, probe: &Probe) -> Result<Option<Put>, Error> {
        let put = self.protocol.put(prefix, &self.key, self.session.lease(), probe);
        let put = put.await?;
        if put.is_none() {
            self.session.end();
        }
        Ok(put)
    }

    /// Deletes the key. False when it was gone before.
    pub(super) async fn leave(mut self, probe: &Probe) -> Result<bool, Error> {
        let deleted = self.protocol.delete(&self.key, probe).await?;
        self.probe = None;
        Ok(deleted)
    }
}

impl Drop for Place {
    /// Deletes the key. The session lives on for other purchases, and the key would, too.
    fn drop(&mut self) {
        let (Some(probe), Ok(runtime)) = (self.probe.take(), Handle::try_current()) else {
            return;
        };
        let (protocol, session, key) = (self.protocol.clone(), self.session.clone(), self.key.clone());
        runtime.spawn(async move {
            while session.is_alive() {
                match protocol.delete(&key, &probe).await {
                    Ok(_) => return,
                    Err(error) => tracing::warn!(%error, key, "a key stays in the queue"),
                }
                sleep(AGAIN_AFTER).await;
            }
        });
    }
}
