//! A purchase that is stopped at a step, at an instance of its own: for a while, as by a pause, or for ever, as by a crash.
//! No reconciler works at that instance.

use std::future::pending;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use app::domain::{Error, Outcome, Purchase};
use app::probe::{Actor, Observer, Observers, Probe, StepContext, StepResult};
use app::strategies::{Catalogue, Listed};
use app::timeouts::Timeouts;
use app::world::World;
use async_trait::async_trait;
use stack::Stores;
use tokio::sync::Notify;
use tokio::time::timeout;

use crate::harness::{LONG, fresh, name, services, world};

/// Where a purchase is stopped. Each step is two places, before it and after it, and the second one is called `step+`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum At {
    Nowhere,
    /// The place that it passes after so many others.
    Number(usize),
    Named(&'static str),
}

/// Sees the places that purchases pass, and stops the first that comes to one. Holds up the reconciler for ever.
struct Stop {
    at: At,
    passed: Mutex<Vec<String>>,
    key: Mutex<String>,
    reached: Notify,
    released: Notify,
}

fn locked<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

impl Stop {
    async fn pass(&self, passing: &StepContext<'_>, place: String) {
        let is_here = {
            let mut passed = locked(&self.passed);
            passed.push(place.clone());
            match self.at {
                At::Nowhere => false,
                At::Number(number) => number == passed.len() - 1,
                At::Named(name) => name == place && passed.iter().filter(|passed| **passed == place).count() == 1,
            }
        };
        if is_here {
            *locked(&self.key) = passing.key.to_string();
            self.reached.notify_one();
            self.released.notified().await;
        }
    }
}

#[async_trait]
impl Observer for Stop {
    fn observes(&self, actor: &Actor) -> bool {
        // A writer looks for work by a clock: its places have no fixed numbers.
        let is_stopped = matches!(self.at, At::Named(_)) && is_worker(actor, "writer");
        matches!(actor, Actor::Purchase(_)) || is_stopped || is_reconciler(actor)
    }

    async fn before(&self, passing: &StepContext<'_>) {
        if is_reconciler(passing.actor) {
            pending::<()>().await;
        }
        self.pass(passing, passing.step.name.to_owned()).await;
    }

    async fn after(&self, passing: &StepContext<'_>, _said: &StepResult) {
        self.pass(passing, format!("{}+", passing.step.name)).await;
    }
}

fn is_reconciler(actor: &Actor) -> bool {
    is_worker(actor, "reconciler")
}

fn is_worker(actor: &Actor, name: &str) -> bool {
    matches!(actor, Actor::Worker(worker) if worker.name == name)
}

/// An instance with one strategy, whose purchases are stopped at one place.
pub struct Elsewhere {
    world: World,
    strategy: Arc<Listed>,
    observers: Observers,
    stop: Arc<Stop>,
}

impl Elsewhere {
    pub async fn open(stores: &Stores, strategy: &str, lease: Duration, at: At) -> Self {
        let stop = Arc::new(Stop {
            at,
            passed: Mutex::default(),
            key: Mutex::default(),
            reached: Notify::new(),
            released: Notify::new(),
        });
        let observers = Observers::new(vec![stop.clone()]);
        let timeouts = Timeouts { wait: LONG, lease };
        Self {
            world: world(&services(stores), &fresh("elsewhere"), timeouts, observers.clone()).await,
            strategy: Catalogue::new().find(strategy).expect(strategy).clone(),
            observers,
            stop,
        }
    }

    /// Buys one unit.
    pub async fn buy(&self, item: &str, key: &str) -> Result<Outcome, Error> {
        let purchase = Purchase::new(name(item), 1, name("b-1"), Some(name(key)));
        let probe = Probe::new(&purchase, Duration::ZERO, None, self.observers.clone());
        let strategy = self.strategy.opened(&self.world).await.unwrap();
        strategy.buy(&purchase, &probe).await
    }

    /// Waits until a purchase is stopped. Returns the key of its step.
    pub async fn stopped(&self) -> String {
        let reached = timeout(LONG, self.stop.reached.notified()).await;
        let passed = locked(&self.stop.passed).clone();
        assert!(reached.is_ok(), "never at {:?}, only at {passed:?}", self.stop.at);
        locked(&self.stop.key).clone()
    }

    /// Lets it go on.
    pub fn release(&self) {
        self.stop.released.notify_one();
    }
}

/// A purchase of one unit at an instance that is gone when the purchase comes to a place, or when it has ended. The places that
/// it passed, the last one being where it was stopped.
pub async fn crash(stores: &Stores, strategy: &str, lease: Duration, (item, key): (&str, &str), at: At) -> Vec<String> {
    let elsewhere = Elsewhere::open(stores, strategy, lease, at).await;
    tokio::select! {
        outcome = elsewhere.buy(item, key) => {
            assert!(matches!(at, At::Nowhere), "{strategy}: never at {at:?}: {outcome:?}");
            outcome.unwrap();
        }
        _ = elsewhere.stopped() => {}
    }
    locked(&elsewhere.stop.passed).clone()
}
