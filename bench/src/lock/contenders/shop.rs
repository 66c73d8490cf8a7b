//! Guards of the shop, as they are: `token` asks every 1 to 5 ms, `spin` without a pause, `watchdog` is woken as Redisson's.

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

use super::{Held, Kind, LEASE, Lock};

/// Longer than any run lasts: nobody is turned away.
const WAIT: Duration = Duration::from_secs(60);

/// A guard by its name.
pub struct ShopGuard {
    name: &'static str,
    sends: &'static [&'static str],
}

impl ShopGuard {
    /// The owner token, polled for.
    pub const TOKEN: Self = Self {
        name: "token",
        sends: &["set", "evalsha"],
    };
    /// The same without a pause.
    pub const SPIN: Self = Self {
        name: "spin",
        sends: &["set", "evalsha"],
    };
    /// Redisson's protocol.
    pub const WATCHDOG: Self = Self {
        name: "watchdog",
        sends: &["evalsha", "psubscribe", "ping"],
    };
}

/// A guard, and the connections that it lives by.
struct Instance {
    guard: Arc<dyn Guard>,
    world: World,
}

struct HeldGuard {
    held: Box<dyn guards::Held>,
    probe: Probe,
}

#[async_trait]
impl Kind for ShopGuard {
    fn name(&self) -> &str {
        self.name
    }

    fn sends(&self) -> &'static [&'static str] {
        self.sends
    }

    async fn connect(&self, url: &str) -> Result<Arc<dyn Lock>> {
        let entry = guards::ALL.iter().find(|entry| entry.mechanism.name == self.name);
        let entry = entry.with_context(|| format!("the shop has no guard {}", self.name))?;
        let services = Services::default().with("redis", [url]);
        let timeouts = Timeouts {
            wait: WAIT,
            lease: LEASE,
        };
        let world = World::open(services, Name::parse("bench")?, timeouts, Observers::new(Vec::new())).await?;
        let guard = (entry.open)(&world).await?;
        Ok(Arc::new(Instance { guard, world }))
    }
}

#[async_trait]
impl Lock for Instance {
    async fn lock(&self, name: &str) -> Result<Box<dyn Held>> {
        let name = Name::parse(name)?;
        // Each attempt is a purchase of its own: the owner of `watchdog` is known by its number.
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
