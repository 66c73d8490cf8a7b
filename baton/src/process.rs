//! The locks of one process.

use std::sync::Arc;
use std::time::Duration;

use redis::Client;
use tokio::time::Instant;
use tokio_util::task::AbortOnDropHandle;

use crate::error::Error;
use crate::held::Held;
use crate::hook::Hook;
use crate::local_queue::LocalQueues;
use crate::scripts::keys;
use crate::settings::Settings;
use crate::shared::Shared;
use crate::ticket::Ticket;
use crate::{listener, renewal};

/// All locks of one process in one Redis. It has two connections, one of them a subscription, and one timer. Dropping
/// it ends the renewal of held locks.
pub struct Baton {
    shared: Arc<Shared>,
    local: Arc<LocalQueues>,
    _listener: AbortOnDropHandle<()>,
    _renewal: AbortOnDropHandle<()>,
}

impl Baton {
    /// Connects to Redis and subscribes to handoffs.
    ///
    /// # Errors
    /// When a setting is out of bounds, or Redis is not reachable.
    pub async fn connect(client: Client, settings: Settings) -> Result<Self, Error> {
        settings.check()?;
        let shared = Shared::connect(client, settings).await?;
        let subscription = listener::subscribe(&shared).await?;
        Ok(Self {
            local: Arc::default(),
            _listener: AbortOnDropHandle::new(tokio::spawn(listener::listen(shared.clone(), subscription))),
            _renewal: AbortOnDropHandle::new(tokio::spawn(renewal::renew(shared.clone()))),
            shared,
        })
    }

    /// Waits for the lock `name` without a limit. A dropped future leaves the queue, or releases the lock that it just
    /// got.
    ///
    /// # Errors
    /// When Redis does not answer.
    pub async fn lock(&self, name: &str) -> Result<Held, Error> {
        loop {
            if let Some(held) = self.lock_until(name, None, None).await? {
                return Ok(held);
            }
        }
    }

    /// Waits for the lock `name`, at most `wait` long. Zero takes the lock only if it is free. Returns `None` if the
    /// lock did not come in time. Operations run through `hook`.
    ///
    /// # Errors
    /// When Redis does not answer.
    pub async fn lock_within(
        &self,
        name: &str,
        wait: Duration,
        hook: Option<&dyn Hook>,
    ) -> Result<Option<Held>, Error> {
        self.lock_until(name, Instant::now().checked_add(wait), hook).await
    }

    async fn lock_until(
        &self,
        name: &str,
        deadline: Option<Instant>,
        hook: Option<&dyn Hook>,
    ) -> Result<Option<Held>, Error> {
        if self.shared.settings.batch > 1 {
            let hold = self.local.wait(&self.shared, name, deadline, hook).await?;
            return Ok(hold.map(Held::from_local_queue));
        }
        let hold = Ticket::new(&self.shared, name).wait(deadline, hook).await?;
        Ok(hold.map(Held::from_redis))
    }

    /// Returns the keys of a lock in Redis. Delete them to remove the lock from any holder.
    pub fn keys(name: &str) -> [String; 3] {
        keys(name)
    }
}
