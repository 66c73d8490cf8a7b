//! What a deed has to do with: the shop, and the moments of the attack.

use std::collections::HashMap;
use std::sync::Arc;
use std::time::{Duration, Instant};

use anyhow::{Context, Result};
use tokio::sync::{mpsc, oneshot};
use tokio::time::sleep;

use super::running::Running;
use super::{Attack, Delivery};
use crate::answer::{Answer, Word};
use crate::deployment::RunningShop;

/// How many purchases may carry a fault until it strikes: one that is told busy never comes to the step.
const FAULT_TRIES: usize = 5;

/// After which a buyer who carries a fault tries again.
const FAULT_AGAIN: Duration = Duration::from_millis(100);

/// An attack, as a deed sees it.
pub struct Scene<'a> {
    /// The shop under attack, with whatever of it is ours.
    pub shop: &'a RunningShop,
    /// The attack: what is sold, by which strategy, to how many.
    pub attack: &'a Attack,
    running: &'a Running,
    directed: HashMap<usize, mpsc::Sender<Parcel>>,
}

/// How one purchase is to be sent.
#[derive(Clone, Debug, Default)]
pub struct Sending {
    /// How it reaches the shop.
    pub delivery: Delivery,
    /// The value of its `X-Fault`, if it carries one.
    pub fault: Option<Arc<str>>,
    /// Its business time between read and write, where it is not that of all others.
    pub work: Option<Duration>,
}

/// What came of a purchase that a deed has sent.
pub struct Heard {
    /// The answer to it, or to the first of its copies.
    pub answer: Answer,
    /// The answer to the second copy, if there was one.
    pub copy: Option<Answer>,
}

/// What a deed gives to the buyer of a purchase.
pub(super) struct Parcel {
    pub(super) sending: Sending,
    pub(super) since: Instant,
    pub(super) heard: oneshot::Sender<Heard>,
}

impl Sending {
    /// Once, with this `X-Fault`.
    pub fn with_fault(fault: &str) -> Self {
        Self {
            fault: Some(fault.into()),
            ..Self::default()
        }
    }
}

impl<'a> Scene<'a> {
    pub(super) fn new(shop: &'a RunningShop, running: &'a Running) -> Self {
        Self {
            shop,
            attack: &running.attack,
            running,
            directed: running.direct(),
        }
    }

    /// Lets the buyers loose. Before that nobody sends anything but what [`Scene::send`] sends.
    pub fn begin(&self) {
        self.running.open_gate();
    }

    /// Lets the buyers loose and waits until so many sales of the first wave were heard of. False when there are fewer of them in all.
    pub async fn after_sales(&self, sales: usize) -> bool {
        self.begin();
        let others = self.attack.sale.load.buyers.saturating_sub(self.directed.len());
        self.running.heard(sales, others).await
    }

    /// Whether any answer that was given so far is like that.
    pub fn any_answer(&self, is: impl Fn(&Answer) -> bool) -> bool {
        self.running.any_answer(is)
    }

    /// Sends the purchase at one of the places of the deed and waits for its answer; after the first time, another
    /// purchase is sent by the same buyer. `None` when the purchases of the round are spent.
    ///
    /// # Errors
    /// When the deed has not named this place.
    pub async fn send(&self, place: usize, sending: Sending) -> Result<Option<Heard>> {
        let parcels = self.directed.get(&place);
        let parcels = parcels.with_context(|| format!("purchase {place} is none of those that the deed sends"))?;
        let (heard, answer) = oneshot::channel();
        let parcel = Parcel {
            sending,
            since: Instant::now(),
            heard,
        };
        if parcels.send(parcel).await.is_err() {
            return Ok(None);
        }
        Ok(answer.await.ok())
    }

    /// Sends purchases in this way, the first of them at that place, until it strikes. `struck` is asked after each answer.
    ///
    /// # Errors
    /// Those of [`Scene::send`].
    pub async fn provoke<F: Future<Output = bool>>(
        &self,
        place: usize,
        sending: Sending,
        struck: impl Fn(Answer) -> F,
    ) -> Result<bool> {
        for _ in 0..FAULT_TRIES {
            let Some(Heard { answer, .. }) = self.send(place, sending.clone()).await? else {
                return Ok(false);
            };
            let word = answer.word;
            if struck(answer).await {
                return Ok(true);
            }
            if !matches!(word, Word::Busy | Word::Sold) {
                return Ok(false);
            }
            sleep(FAULT_AGAIN).await;
        }
        Ok(false)
    }
}
