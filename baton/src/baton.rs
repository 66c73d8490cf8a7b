//! One process's end of all its locks.

use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use redis::Client;
use tokio::runtime::Handle;
use tokio::sync::watch;
use tokio::time::Instant;
use tokio_util::task::AbortOnDropHandle;
use uuid::Uuid;

use crate::around::{Act, Around, carry, in_words};
use crate::desk::Desk;
use crate::error::Error;
use crate::held::{Held, Hold};
use crate::lease::Lease;
use crate::local_queue::LocalQueues;
use crate::scripts::{Scripts, Turn, keys};
use crate::settings::Settings;
use crate::ticket::Ticket;
use crate::wire::Wire;
use crate::{listener, renewal};

/// How often Redis is told that something is given back for which nobody waits: the first time may find the connection dead.
const RELEASES: usize = 3;

/// What the ends of all locks have in common.
pub(crate) struct Shared {
    pub(crate) settings: Settings,
    pub(crate) wire: Wire,
    pub(crate) scripts: Scripts,
    /// Begins each token: a process that was started anew is another one.
    pub(crate) process: String,
    next: AtomicU64,
    desk: Mutex<Desk>,
    /// Rises whenever it is listened anew: what was said meanwhile went unheard.
    pub(crate) listening: watch::Sender<u64>,
    runtime: Handle,
}

impl Shared {
    pub(crate) fn desk(&self) -> MutexGuard<'_, Desk> {
        self.desk.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// A token that nobody has had. It says how many fences its holder needs.
    pub(crate) fn token(&self) -> String {
        let number = self.next.fetch_add(1, Ordering::Relaxed);
        format!("{}:{number}:{}", self.process, self.settings.batch)
    }

    pub(crate) fn grace(&self) -> Duration {
        self.settings.grace.min(self.settings.lease)
    }

    /// Redis gave this process a lock, after `asked` if that is known.
    pub(crate) fn own(self: &Arc<Self>, turn: &Turn<'_>, asked: Option<Instant>) {
        let lease = self.desk().own(turn, asked);
        if let Some(lease) = lease
            && !self.pass_on(&lease)
        {
            self.release_unseen(lease.name.clone(), lease.owner.clone());
        }
    }

    /// Lets the next one of this process have a lock that Redis gave it. Whether there is one.
    pub(crate) fn pass_on(self: &Arc<Self>, lease: &Lease) -> bool {
        let next = self.desk().next(&lease.owner);
        let Some((lease, heir)) = next else {
            return false;
        };
        // Who has gone meanwhile drops it, by which it is passed on.
        let _ = heir.turn.send(Hold::new(self.clone(), lease, heir.fence));
        true
    }

    /// Gives the lock of an owner back, or the place that a token has in its queue. Whether it was the lock.
    pub(crate) async fn release(
        &self,
        name: &str,
        owner_or_token: &str,
        around: Option<&dyn Around>,
    ) -> Result<bool, Error> {
        match self.release_once(name, owner_or_token, around).await {
            Err(error) if error.is_cut() => match self.release_once(name, owner_or_token, around).await? {
                true => Ok(true),
                // Whether the first time did it is not known.
                false => Err(error),
            },
            answer => answer,
        }
    }

    async fn release_once(&self, name: &str, owner_or_token: &str, around: Option<&dyn Around>) -> Result<bool, Error> {
        let call = self.scripts.release(name, owner_or_token, self.grace());
        let words = |answer: &Result<bool, Error>| in_words(answer, |had| if *had { "released" } else { "not held" });
        carry(around, Act::Release, name, self.wire.run(&call), words).await
    }

    /// The same, by nobody who could wait for it. Where Redis never hears it the lock ends with its lease; a place in the queue
    /// comes to its turn, which nobody wants then.
    pub(crate) fn release_unseen(self: &Arc<Self>, name: String, owner_or_token: String) {
        let shared = self.clone();
        self.runtime.spawn(async move {
            for _ in 0..RELEASES {
                let around = shared.settings.around.as_deref();
                if shared.release(&name, &owner_or_token, around).await.is_ok() {
                    return;
                }
            }
        });
    }
}

/// One process's end of all its locks in one Redis: two connections, one subscription, one timer. Dropping it ends the renewal
/// of what is still held.
pub struct Baton {
    pub(crate) shared: Arc<Shared>,
    local: Arc<LocalQueues>,
    _listener: AbortOnDropHandle<()>,
    _renewal: AbortOnDropHandle<()>,
}

impl Baton {
    /// Connects, and listens before anybody can wait.
    ///
    /// # Errors
    /// When the settings are outside their bounds, or Redis cannot be reached.
    pub async fn connect(client: Client, settings: Settings) -> Result<Self, Error> {
        settings.check()?;
        let grace = settings.grace.min(settings.lease);
        let shared = Arc::new(Shared {
            wire: Wire::connect(client, settings.answer_within).await?,
            settings,
            scripts: Scripts::new(),
            process: Uuid::new_v4().simple().to_string(),
            next: AtomicU64::new(0),
            desk: Mutex::new(Desk::new(grace)),
            listening: watch::Sender::new(0),
            runtime: Handle::current(),
        });
        let subscription = listener::subscribe(&shared).await?;
        Ok(Self {
            local: Arc::default(),
            _listener: AbortOnDropHandle::new(tokio::spawn(listener::listen(shared.clone(), subscription))),
            _renewal: AbortOnDropHandle::new(tokio::spawn(renewal::renew(shared.clone()))),
            shared,
        })
    }

    /// Waits for the lock `name`, as long as it takes. Dropping the future gives up the place in the queue, or the lock if it
    /// was just had.
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

    /// Waits for the lock `name`, at most `wait` in the queue: with no time at all it is had only if it is free. `None` when it did
    /// not come. With `around` around what is done for it.
    ///
    /// # Errors
    /// When Redis does not answer.
    pub async fn lock_within(
        &self,
        name: &str,
        wait: Duration,
        around: Option<&dyn Around>,
    ) -> Result<Option<Held>, Error> {
        self.lock_until(name, Instant::now().checked_add(wait), around).await
    }

    async fn lock_until(
        &self,
        name: &str,
        deadline: Option<Instant>,
        around: Option<&dyn Around>,
    ) -> Result<Option<Held>, Error> {
        if self.shared.settings.batch > 1 {
            let turn = self.local.turn(&self.shared, name, deadline, around).await?;
            return Ok(turn.map(Held::passed_on));
        }
        let hold = Ticket::new(&self.shared, name).wait(deadline, around).await?;
        Ok(hold.map(Held::alone))
    }

    /// The keys that a lock keeps in Redis, for who wants to be rid of it, whoever holds it.
    pub fn keys(name: &str) -> [String; 3] {
        keys(name)
    }
}
