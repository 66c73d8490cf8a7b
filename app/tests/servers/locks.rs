//! Guards and their locks as tests use them: every failure names the guard and what the test expected of it.

use std::sync::Arc;
use std::time::Duration;

use app::domain::{Error, Fence, Name, Purchase};
use app::guards::{self, Guard, GuardEntry, Held, Released};
use app::probe::{Observers, Probe};
use app::timeouts::Timeouts;
use app::world::World;
use tokio::time::timeout;

use crate::harness::{self, Instance, LONG, SHORT, is_tried, name};

/// A purchase that finds the lock taken gives up soon, and no lease ends within a test.
pub const LASTING: Timeouts = Timeouts {
    wait: SHORT,
    lease: LONG.saturating_mul(10),
};

fn nobody() -> Observers {
    Observers::new(Vec::new())
}

/// The probe of another purchase.
pub fn probe() -> Probe {
    probe_under(nobody())
}

/// The same, observed.
pub fn probe_under(observers: Observers) -> Probe {
    let purchase = Purchase::new(name("sku"), 1, name("b-1"), None);
    Probe::new(&purchase, Duration::ZERO, None, observers)
}

/// Another world on the same services: its guards are those of another instance.
pub async fn world(instance: &Instance, timeouts: Timeouts) -> World {
    harness::world(&instance.shop.world.services, "app", timeouts, nobody()).await
}

/// The guard of that name at another instance.
pub async fn guard(instance: &Instance, mechanism: &str, timeouts: Timeouts) -> Tested {
    guard_for(instance, mechanism, "redis", timeouts).await
}

/// The same, for sales in that store.
pub async fn guard_for(instance: &Instance, mechanism: &str, store: &'static str, timeouts: Timeouts) -> Tested {
    let entry = guards::ALL.iter().find(|entry| entry.mechanism.name == mechanism);
    let entry = entry.unwrap_or_else(|| panic!("no guard is called {mechanism}"));
    Tested::open_for(entry, &world(instance, timeouts).await, store).await
}

/// The guards that `.ci/mutations` asks for, if it does, and whose services are here.
pub fn usable(world: &World) -> impl Iterator<Item = &'static GuardEntry> {
    let has_all = |entry: &&GuardEntry| {
        entry
            .mechanism
            .needs
            .iter()
            .all(|need| world.services.urls(need).is_ok())
    };
    let tried = guards::ALL.iter().filter(|entry| is_tried(entry.mechanism.name));
    tried.filter(has_all)
}

/// A guard under test.
#[derive(Clone)]
pub struct Tested {
    pub name: &'static str,
    guard: Arc<dyn Guard>,
}

impl Tested {
    pub async fn open(entry: &GuardEntry, world: &World) -> Self {
        Self::open_for(entry, world, "redis").await
    }

    /// The same, for sales in that store: a lock in a database lies there.
    pub async fn open_for(entry: &GuardEntry, world: &World, store: &'static str) -> Self {
        let name = entry.mechanism.name;
        let opening = async {
            loop {
                match (entry.open)(world, store).await {
                    Ok(guard) => return Self { name, guard },
                    Err(error) => tracing::warn!(%error, "{name} does not open"),
                }
            }
        };
        let opened = timeout(LONG, opening).await;
        opened.unwrap_or_else(|_| panic!("{name}: the guard does not open within {LONG:?}"))
    }

    /// Asks once, and leaves it to the test what an error means.
    pub async fn try_lock(&self, item: &Name, probe: &Probe) -> Result<Option<Lock>, Error> {
        let guard = self.name;
        let held = self.guard.lock(item, probe).await?;
        Ok(held.map(|held| Lock { guard, held }))
    }

    /// Waits for the lock, as long as the guard lets a purchase wait. `None` when it did not come free.
    pub async fn lock(&self, item: &Name, probe: &Probe) -> Option<Lock> {
        let guard = self.name;
        let locking = async {
            loop {
                match self.try_lock(item, probe).await {
                    Ok(lock) => return lock,
                    // Under load a connection may take longer than the guard waits.
                    Err(error) if error.changed_nothing() => {}
                    Err(error) => panic!("{guard}: the lock service fails: {error}"),
                }
            }
        };
        let locked = timeout(2 * LONG, locking).await;
        locked.unwrap_or_else(|_| panic!("{guard}: the wait for the lock has no end"))
    }

    /// Takes a lock that nobody holds.
    pub async fn take(&self, item: &Name, probe: &Probe) -> Lock {
        self.take_when(item, probe, "nobody holds it").await
    }

    /// Takes a lock that has to be free then, or to come free.
    pub async fn take_when(&self, item: &Name, probe: &Probe, when: &str) -> Lock {
        let taking = async {
            loop {
                if let Some(lock) = self.lock(item, probe).await {
                    return lock;
                }
            }
        };
        let taken = timeout(LONG, taking).await;
        taken.unwrap_or_else(|_| panic!("{}: no purchase can take the lock: {when}", self.name))
    }

    /// Fails unless another purchase gets the lock, which ends without a release.
    pub async fn assert_free(&self, item: &Name, when: &str) {
        drop(self.take_when(item, &probe(), when).await);
    }

    /// Fails if another purchase gets the lock.
    pub async fn assert_held(&self, item: &Name, when: &str) {
        let second = self.lock(item, &probe()).await;
        assert!(second.is_none(), "{}: a second purchase is let in: {when}", self.name);
    }

    pub async fn forget(&self, item: &Name) {
        let forgotten = self.guard.forget(item).await;
        forgotten.unwrap_or_else(|error| panic!("{}: the item cannot be forgotten: {error}", self.name));
    }
}

/// A lock that a purchase of a test holds.
pub struct Lock {
    guard: &'static str,
    held: Box<dyn Held>,
}

impl Lock {
    pub fn fence(&self) -> Option<Fence> {
        self.held.fence()
    }

    pub async fn after_read(&mut self) {
        let told = self.held.after_read(&probe()).await;
        told.unwrap_or_else(|error| panic!("{}: after the read the lock service fails: {error}", self.guard));
    }

    /// Whether the holder may write.
    pub async fn may_write(&mut self) -> bool {
        let told = self.held.before_write(&probe()).await;
        told.unwrap_or_else(|error| panic!("{}: before the write the lock service fails: {error}", self.guard))
    }

    /// Gives the lock back, and fails unless its end is as expected.
    pub async fn release(self, probe: &Probe, expected: Released) {
        let released = self.held.release(probe).await;
        let released = released.unwrap_or_else(|error| panic!("{}: the release fails: {error}", self.guard));
        assert_eq!(released, expected, "{}: the release of its lock", self.guard);
    }

    /// Leaves the lock as a crash does: nothing of its holder runs any more.
    pub fn abandon(self) {
        std::mem::forget(self.held);
    }
}
