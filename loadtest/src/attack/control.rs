//! What a deed has to do with: the shop, and the moments of the attack.

use std::collections::HashMap;
use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant};

use anyhow::{Context, Result};
use tokio::sync::{mpsc, oneshot};
use tokio::time::sleep;

use super::Attack;
use super::running::Running;
use super::send_order::{ResponsePair, SendOptions, SendOrder};
use crate::deployment::RunningShop;
use crate::shop::response::{Response, ResponseKind};
use crate::trace::{Incident, IncidentKind};

/// How many purchases may carry a fault until it strikes: one that is told busy never comes to the step.
const FAULT_TRIES: usize = 5;

/// After which a buyer who carries a fault tries again.
const FAULT_AGAIN: Duration = Duration::from_millis(100);

/// An attack, as a deed sees it.
pub struct AttackControl<'a> {
    /// The shop under attack, with whatever of it is ours.
    pub shop: &'a RunningShop,
    /// The attack: what is sold, by which strategy, to how many.
    pub attack: &'a Attack,
    running: &'a Running,
    directed: HashMap<usize, mpsc::Sender<SendOrder>>,
    incidents: Mutex<Vec<Incident>>,
}

impl<'a> AttackControl<'a> {
    pub(super) fn new(shop: &'a RunningShop, running: &'a Running) -> Self {
        Self {
            shop,
            attack: &running.attack,
            running,
            directed: running.direct(),
            incidents: Mutex::default(),
        }
    }

    /// Notes what was done to `subject`, for the story of the round.
    pub fn note(&self, kind: IncidentKind, subject: &str, from: Instant, to: Option<Instant>) {
        let mut incidents = self.incidents.lock().unwrap_or_else(PoisonError::into_inner);
        incidents.push(Incident {
            kind,
            subject: subject.to_owned(),
            from,
            to,
        });
    }

    pub(super) fn into_incidents(self) -> Vec<Incident> {
        self.incidents.into_inner().unwrap_or_else(PoisonError::into_inner)
    }

    /// Lets the buyers loose. Before that nobody sends anything but what [`AttackControl::send`] sends.
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
    pub fn any_answer(&self, is: impl Fn(&Response) -> bool) -> bool {
        self.running.any_answer(is)
    }

    /// Sends the purchase at one of the places of the deed and waits for its answer; after the first time, another
    /// purchase is sent by the same buyer. `None` when the purchases of the round are spent.
    ///
    /// # Errors
    /// When the deed has not named this place.
    pub async fn send(&self, place: usize, options: SendOptions) -> Result<Option<ResponsePair>> {
        let send_orders = self.directed.get(&place);
        let send_orders =
            send_orders.with_context(|| format!("purchase {place} is none of those that the deed sends"))?;
        let (heard, response) = oneshot::channel();
        let send_order = SendOrder {
            options,
            since: Instant::now(),
            heard,
        };
        if send_orders.send(send_order).await.is_err() {
            return Ok(None);
        }
        Ok(response.await.ok())
    }

    /// Sends purchases in this way, the first of them at that place, until it strikes. `struck` is asked after each answer.
    ///
    /// # Errors
    /// Those of [`AttackControl::send`].
    pub async fn provoke<F: Future<Output = bool>>(
        &self,
        place: usize,
        options: SendOptions,
        struck: impl Fn(Response) -> F,
    ) -> Result<bool> {
        for _ in 0..FAULT_TRIES {
            let Some(ResponsePair { response, .. }) = self.send(place, options.clone()).await? else {
                return Ok(false);
            };
            let kind = response.kind;
            if struck(response).await {
                return Ok(true);
            }
            if !matches!(kind, ResponseKind::Busy | ResponseKind::Sold) {
                return Ok(false);
            }
            sleep(FAULT_AGAIN).await;
        }
        Ok(false)
    }
}
