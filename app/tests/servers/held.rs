//! Purchases that are held up at a step, so that others fall just between two steps of theirs.

use std::sync::{Arc, Mutex, PoisonError};

use app::domain::{Error, Outcome, Purchase};
use app::probe::{Actor, Observer, Observers, Probe, StepContext, StepResult};
use app::strategies::{Catalogue, Strategy};
use app::timeouts::Timeouts;
use app::world::World;
use async_trait::async_trait;
use stack::Stores;
use tokio::sync::Semaphore;
use tokio::task::JoinHandle;
use tokio::time::timeout;

use crate::harness::{LONG, name, services, world};

/// One buyer that is held up before each of the steps of that name.
pub struct Hold {
    buyer: &'static str,
    step: &'static str,
    reached: Semaphore,
    go: Semaphore,
    /// The results of its reads.
    read: Mutex<Vec<String>>,
}

impl Hold {
    pub fn before(step: &'static str, buyer: &'static str) -> Arc<Self> {
        Arc::new(Self {
            buyer,
            step,
            reached: Semaphore::new(0),
            go: Semaphore::new(0),
            read: Mutex::default(),
        })
    }

    /// Waits until the buyer is there.
    pub async fn reached(&self) {
        let reached = timeout(LONG, self.reached.acquire()).await;
        reached
            .unwrap_or_else(|_| panic!("{} never came to {}", self.buyer, self.step))
            .unwrap()
            .forget();
    }

    /// Lets the buyer go on, once.
    pub fn go_on(&self) {
        self.go.add_permits(1);
    }

    /// Lets the buyer go on, and never holds it up again.
    pub fn let_go(&self) {
        self.go.add_permits(Semaphore::MAX_PERMITS / 2);
    }

    pub fn read(&self) -> Vec<String> {
        self.read.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }
}

#[async_trait]
impl Observer for Hold {
    fn observes(&self, actor: &Actor) -> bool {
        matches!(actor, Actor::Purchase(attempt) if attempt.buyer.as_str() == self.buyer)
    }

    async fn before(&self, passing: &StepContext<'_>) {
        if passing.step.name == self.step {
            self.reached.add_permits(1);
            self.go.acquire().await.unwrap().forget();
        }
    }

    async fn after(&self, passing: &StepContext<'_>, said: &StepResult) {
        if passing.step.name == "read" {
            let mut read = self.read.lock().unwrap_or_else(PoisonError::into_inner);
            read.push(said.words.to_string());
        }
    }
}

/// Strategies under which some buyers are held up.
pub struct Stage {
    world: World,
    catalogue: Catalogue,
    _stores: Arc<Stores>,
}

impl Stage {
    pub async fn with(stores: Arc<Stores>, timeouts: Timeouts, holds: &[Arc<Hold>]) -> Self {
        let holds = holds.iter().map(|hold| hold.clone() as Arc<dyn Observer>);
        Self::under(stores, timeouts, holds.collect()).await
    }

    /// The same with any observers at the seam.
    pub async fn under(stores: Arc<Stores>, timeouts: Timeouts, observers: Vec<Arc<dyn Observer>>) -> Self {
        let observers = Observers::new(observers);
        Self {
            world: world(&services(&stores), "app-1", timeouts, observers).await,
            catalogue: Catalogue::new(),
            _stores: stores,
        }
    }

    /// Begins a purchase.
    pub async fn begin(
        &self,
        strategy: &str,
        item: &str,
        buyer: &str,
        quantity: u32,
    ) -> JoinHandle<Result<Outcome, Error>> {
        let purchase = Purchase::new(name(item), quantity, name(buyer), None);
        self.begin_with(strategy, purchase).await
    }

    /// Begins this purchase.
    pub async fn begin_with(&self, strategy: &str, purchase: Purchase) -> JoinHandle<Result<Outcome, Error>> {
        let strategy: Arc<dyn Strategy> = self
            .catalogue
            .find(strategy)
            .unwrap()
            .opened(&self.world)
            .await
            .unwrap()
            .clone();
        let probe = Probe::new(&purchase, std::time::Duration::ZERO, None, self.world.observers.clone());
        tokio::spawn(async move { strategy.buy(&purchase, &probe).await })
    }

    /// Carries a purchase through.
    pub async fn buy(&self, strategy: &str, item: &str, buyer: &str, quantity: u32) -> Outcome {
        ended(self.begin(strategy, item, buyer, quantity).await).await
    }
}

/// Waits for the outcome of a purchase that was begun.
pub async fn ended(begun: JoinHandle<Result<Outcome, Error>>) -> Outcome {
    timeout(LONG, begun).await.expect("it never ends").unwrap().unwrap()
}
