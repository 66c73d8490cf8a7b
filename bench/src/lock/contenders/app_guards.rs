//! Guards of the app, unchanged: `token` polls every 1 to 5 ms, `spin` without a pause, and a message wakes `watchdog`.

use std::sync::Arc;
use std::time::Duration;

use anyhow::{Context, Result};
use app::domain::{Name, Purchase};
use app::guards::{self, Guard};
use app::probe::{Observers, Probe};
use app::services::Services;
use app::timeouts::Timeouts;
use app::world::World;
use async_trait::async_trait;

use super::super::lock_kind::{Held, LEASE, Lock, LockKind};

/// Longer than any run: no task gives up.
const WAIT: Duration = Duration::from_secs(60);

pub struct AppGuard {
    name: &'static str,
    sends: &'static [&'static str],
}

impl AppGuard {
    pub const TOKEN: Self = Self {
        name: "token",
        sends: &["set", "evalsha"],
    };
    pub const SPIN: Self = Self {
        name: "spin",
        sends: &["set", "evalsha"],
    };
    pub const WATCHDOG: Self = Self {
        name: "watchdog",
        sends: &["evalsha", "psubscribe", "ping"],
    };
}

struct Instance {
    guard: Arc<dyn Guard>,
    world: World,
}

struct HeldGuard {
    held: Box<dyn guards::Held>,
    probe: Probe,
}

#[async_trait]
impl LockKind for AppGuard {
    fn name(&self) -> &str {
        self.name
    }

    fn sends(&self) -> &'static [&'static str] {
        self.sends
    }

    async fn connect(&self, url: &str) -> Result<Arc<dyn Lock>> {
        let entry = guards::ALL.iter().find(|entry| entry.mechanism.name == self.name);
        let entry = entry.with_context(|| format!("the app has no guard {}", self.name))?;
        let services = Services::default().with("redis", [url]);
        let timeouts = Timeouts {
            wait: WAIT,
            lease: LEASE,
        };
        let world = World::open(services, Name::parse("bench")?, timeouts, Observers::new(Vec::new())).await?;
        let guard = (entry.open)(&world, "redis").await?;
        Ok(Arc::new(Instance { guard, world }))
    }
}

#[async_trait]
impl Lock for Instance {
    async fn lock(&self, name: &str) -> Result<Box<dyn Held>> {
        let name = Name::parse(name)?;
        // Each attempt is a separate purchase: `watchdog` tells its owners apart by the number of the purchase.
        let purchase = Purchase::new(name.clone(), 1, name.clone(), None);
        let probe = Probe::new(&purchase, Duration::ZERO, None, self.world.observers.clone());
        let held = self.guard.lock(&name, &probe).await?;
        let held = held.with_context(|| format!("waited for {WAIT:?}"))?;
        Ok(Box::new(HeldGuard { held, probe }))
    }
}

#[async_trait]
impl Held for HeldGuard {
    fn fence(&self) -> Option<u64> {
        self.held.fence().map(|fence| fence.0)
    }

    async fn release(self: Box<Self>) -> Result<()> {
        self.held.release(&self.probe).await?;
        Ok(())
    }
}
