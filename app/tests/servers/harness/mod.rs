//! The parts that all tests share: real stores, instances on them, requests to an instance, and waits for an event.

mod instance;
mod requests;
mod stores;

use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use app::domain::Name;
use app::probe::Observers;
use app::services::Services;
use app::strategies::Entry;
use app::timeouts::Timeouts;
use app::world::World;
use tokio::time::timeout;

pub use self::instance::Instance;
pub use self::requests::{Answer, PurchaseRequest, ask};
pub use self::stores::{services, services_of_its_own, stores, stores_of_its_own};

pub const TOKEN: &str = "the-admin-token-of-the-tests";

/// The limit of every wait, on any machine under any load: a test comes to it only when something is broken.
pub const LONG: Duration = Duration::from_secs(60);

/// A wait for a lock that another purchase keeps: it ends in busy, however long or short it is.
pub const SHORT: Duration = Duration::from_millis(50);

/// Times that no test waits out.
pub const PATIENT: Timeouts = Timeouts {
    wait: LONG,
    lease: LONG,
};

/// A world on these services. Under load a store may accept a connection too late: then it is opened again.
pub async fn world(services: &Services, instance: &str, timeouts: Timeouts, observers: Observers) -> World {
    let opening = async {
        loop {
            match World::open(services.clone(), name(instance), timeouts, observers.clone()).await {
                Ok(world) => return world,
                Err(error) => tracing::warn!(%error, "the world of {instance} does not open"),
            }
        }
    };
    let opened = timeout(LONG, opening).await;
    opened.unwrap_or_else(|_| panic!("the world of {instance} does not open within {LONG:?}"))
}

/// Whether a strategy locks the rows of all items: on the stores of other tests it would wait for these, and they for it.
pub fn locks_all_items(entry: &Entry) -> bool {
    entry.steps.iter().any(|step| step.locks_all_items)
}

/// Whether a test of all mechanisms tries this one: `.ci/mutations` asks for one at a time.
pub fn is_tried(mechanism: &str) -> bool {
    std::env::var("OVERSELL_TEST_MECHANISM").map_or(true, |only| only == mechanism)
}

pub fn name(text: &str) -> Name {
    Name::parse(text).unwrap()
}

/// A name that no other test has.
pub fn fresh(what: &str) -> String {
    static NEXT: AtomicUsize = AtomicUsize::new(0);
    format!("{what}-{}", NEXT.fetch_add(1, Ordering::Relaxed))
}

/// Asks again and again until `condition` is true.
pub async fn until<F: Future<Output = bool>>(event: &str, mut condition: impl FnMut() -> F) {
    let looking = async {
        while !condition().await {
            tokio::time::sleep(Duration::from_millis(1)).await;
        }
    };
    let seen = timeout(LONG, looking).await;
    assert!(seen.is_ok(), "not after {LONG:?}: {event}");
}
