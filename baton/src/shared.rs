//! The state that all locks of one process share.

use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use tokio::runtime::Handle;
use tokio::sync::watch;
use tokio::time::Instant;
use uuid::Uuid;

use crate::error::Error;
use crate::hook::{Hook, Operation, in_words, observed};
use crate::lease::Lease;
use crate::scripts::{Handoff, Scripts};
use crate::settings::Settings;
use crate::shard_channels::ShardChannels;
use crate::waiters::Waiters;
use crate::wire::Wire;

/// Attempts of a release in the background: the first one may find the connection dead.
const RELEASES: usize = 3;

pub(crate) struct Shared {
    pub(crate) settings: Settings,
    pub(crate) wire: Wire,
    pub(crate) scripts: Scripts,
    /// The channels in a cluster; `None` for one server, where this process has one channel.
    pub(crate) shards: Option<ShardChannels>,
    /// The prefix of each token. A restarted process has a new one.
    pub(crate) process: String,
    next: AtomicU64,
    waiters: Mutex<Waiters>,
    /// Rises with each new subscription: messages before it were not received.
    pub(crate) subscriptions: watch::Sender<u64>,
    runtime: Handle,
}

impl Shared {
    pub(crate) fn new(settings: Settings, wire: Wire, scripts: Scripts, shards: Option<ShardChannels>) -> Arc<Self> {
        Arc::new(Self {
            wire,
            scripts,
            shards,
            process: Uuid::new_v4().simple().to_string(),
            next: AtomicU64::new(0),
            waiters: Mutex::new(Waiters::new(settings.grace.min(settings.lease))),
            subscriptions: watch::Sender::new(0),
            runtime: Handle::current(),
            settings,
        })
    }

    /// Whether a handoff of this lock would reach this process.
    pub(crate) fn hears(&self, name: &str) -> bool {
        self.shards.as_ref().is_none_or(|shards| shards.hear(name))
    }

    pub(crate) fn waiters(&self) -> MutexGuard<'_, Waiters> {
        self.waiters.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// A new token. It says how many fences its holder needs.
    pub(crate) fn token(&self) -> String {
        let number = self.next.fetch_add(1, Ordering::Relaxed);
        format!("{}:{number}:{}", self.process, self.settings.batch)
    }

    pub(crate) fn grace(&self) -> Duration {
        self.settings.grace.min(self.settings.lease)
    }

    /// Takes over a lock that Redis gave this process, after `asked` if that is known.
    pub(crate) fn own(self: &Arc<Self>, handoff: &Handoff<'_>, asked: Option<Instant>) {
        let lease = self.waiters().own(handoff, asked);
        if let Some(lease) = lease {
            self.pass_on_or_release(&lease);
        }
    }

    /// Grants the lock to the next waiter that Redis gave it to in this process. False if there is none.
    pub(crate) fn pass_on(&self, lease: &Lease) -> bool {
        self.waiters().pass_on(&lease.owner)
    }

    /// As [`Self::pass_on`]. If there is no such waiter, the background releases the lock.
    pub(crate) fn pass_on_or_release(self: &Arc<Self>, lease: &Lease) {
        if !self.pass_on(lease) {
            self.release_in_background(lease.name.clone(), lease.owner.clone());
        }
    }

    /// Gives up the lock of an owner, or the place of a token in the queue. Whether it was the lock.
    pub(crate) async fn release(
        &self,
        name: &str,
        owner_or_token: &str,
        hook: Option<&dyn Hook>,
    ) -> Result<bool, Error> {
        match self.release_once(name, owner_or_token, hook).await {
            Err(error) if error.is_cut() => match self.release_once(name, owner_or_token, hook).await? {
                true => Ok(true),
                // The first attempt may have released it, or the lock was lost before.
                false => Err(error),
            },
            answer => answer,
        }
    }

    async fn release_once(&self, name: &str, owner_or_token: &str, hook: Option<&dyn Hook>) -> Result<bool, Error> {
        let call = self.scripts.release(name, owner_or_token, self.grace());
        let words = |answer: &Result<bool, Error>| in_words(answer, |held| if *held { "released" } else { "not held" });
        observed(hook, Operation::Release, name, self.wire.run(&call), words).await
    }

    /// As [`Self::release`], for a caller that cannot wait. If Redis never receives it, the lock ends with its lease,
    /// and a place in the queue gets a handoff that nobody uses.
    pub(crate) fn release_in_background(self: &Arc<Self>, name: String, owner_or_token: String) {
        let shared = self.clone();
        self.runtime.spawn(async move {
            for _ in 0..RELEASES {
                let hook = shared.settings.hook.as_deref();
                if shared.release(&name, &owner_or_token, hook).await.is_ok() {
                    return;
                }
            }
        });
    }
}
