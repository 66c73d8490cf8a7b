//! The interface of an injection to the attack that goes on.

use std::collections::HashMap;
use std::sync::{Mutex, OnceLock, PoisonError};
use std::time::{Duration, Instant};

use anyhow::{Context, Result};
use stack::ServiceKind;
use tokio::sync::{SetOnce, mpsc, oneshot};
use tokio::time::{sleep, timeout};

use super::running::Running;
use super::send_order::{ResponsePair, SendOptions, SendOrder};
use super::{Attack, Proof};
use crate::audit::Absence;
use crate::deployment::RunningShop;
use crate::shop::response::{Response, ResponseKind};
use crate::trace::{Incident, IncidentKind};

/// The most purchases that carry a fault until it strikes. A purchase that is told busy never reaches the step.
const FAULT_TRIES: usize = 5;

/// The pause before a buyer sends the next purchase with a fault.
const NEXT_TRY_AFTER: Duration = Duration::from_millis(100);

/// The pause between two questions by which name an instance answers, in milliseconds. It is random, so that no shop that
/// changes its names at a steady pace keeps step with it.
const ASK_EVERY_MS: std::ops::Range<u64> = 50..150;

/// The most proofs of a round, as `docs/result.schema.json` has it.
const MOST_PROOFS: usize = 200;

/// An attack, as an injection sees it.
pub struct AttackControl<'a> {
    /// The shop under attack, with its local processes.
    pub shop: &'a RunningShop,
    /// The attack: the items, the strategy and the load.
    pub attack: &'a Attack,
    running: &'a Running,
    orders: HashMap<usize, mpsc::Sender<SendOrder>>,
    incidents: Mutex<Vec<Incident>>,
    mistimed: OnceLock<&'static str>,
    struck: Mutex<Vec<Proof>>,
    absent: Mutex<Vec<Absence>>,
}

/// What the injection saw of its fault.
#[derive(Default)]
pub(super) struct Seen {
    pub(super) incidents: Vec<Incident>,
    pub(super) struck: Vec<Proof>,
    pub(super) absent: Vec<Absence>,
}

impl<'a> AttackControl<'a> {
    pub(super) fn new(shop: &'a RunningShop, running: &'a Running) -> Self {
        Self {
            shop,
            attack: &running.attack,
            running,
            orders: running.take_order_senders(),
            incidents: Mutex::default(),
            mistimed: OnceLock::new(),
            struck: Mutex::default(),
            absent: Mutex::default(),
        }
    }

    /// Notes an event of the fault on `subject`, for the story of the round.
    pub fn note(&self, kind: IncidentKind, subject: &str, from: Instant, to: Option<Instant>) {
        let mut incidents = self.incidents.lock().unwrap_or_else(PoisonError::into_inner);
        incidents.push(Incident {
            kind,
            subject: subject.to_owned(),
            from,
            to,
        });
    }

    /// Notes why the round proves nothing although the fault struck: it came at another moment than the one that is
    /// tried. The first reason counts.
    pub fn mistime(&self, why: &'static str) {
        self.mistimed.get_or_init(|| why);
    }

    pub(super) fn mistimed(&self) -> Option<&'static str> {
        self.mistimed.get().copied()
    }

    /// Keeps the proof that the fault struck this service: one short sentence with the figures that were seen. An
    /// injection that proves nothing has not struck.
    pub fn prove(&self, service: &str, proof: impl Into<String>) {
        self.keep_proofs([Proof::new(service, proof)]);
    }

    /// Keeps several proofs, as long as there is room for them.
    pub fn keep_proofs(&self, proofs: impl IntoIterator<Item = Proof>) {
        let mut struck = self.struck.lock().unwrap_or_else(PoisonError::into_inner);
        let room = MOST_PROOFS.saturating_sub(struck.len());
        struck.extend(proofs.into_iter().take(room));
    }

    /// Returns whether there is a proof for the service, or for one of its processes.
    pub fn is_proven(&self, kind: ServiceKind) -> bool {
        let struck = self.struck.lock().unwrap_or_else(PoisonError::into_inner);
        let service = |proof: &Proof| proof.service.split('/').next() == Some(kind.name());
        struck.iter().any(service)
    }

    /// Notes that an instance could not answer for a while. The responses of the round must not deny it.
    pub fn note_absence(&self, absence: Absence) {
        let mut absent = self.absent.lock().unwrap_or_else(PoisonError::into_inner);
        absent.push(absence);
    }

    pub(super) fn into_seen(self) -> Seen {
        Seen {
            incidents: self.incidents.into_inner().unwrap_or_else(PoisonError::into_inner),
            struck: self.struck.into_inner().unwrap_or_else(PoisonError::into_inner),
            absent: self.absent.into_inner().unwrap_or_else(PoisonError::into_inner),
        }
    }

    /// Releases the buyers. Before that the shop gets only the purchases of [`AttackControl::send`].
    pub fn release_buyers(&self) {
        self.running.open_gate();
    }

    /// Releases the buyers and waits for that many sales. Returns false if the first wave was answered with fewer
    /// sales.
    pub async fn release_until_sales(&self, sales: usize) -> bool {
        self.release_buyers();
        let others = self.attack.sale.load.buyers.saturating_sub(self.orders.len());
        self.running.wait_for(sales, others).await
    }

    /// Sends the purchase at one of the injection's places and waits for the response. A later call for the same place
    /// sends another purchase of the same buyer. Returns `None` when the purchases of the round are used up.
    ///
    /// # Errors
    /// When the injection does not list this place.
    pub async fn send(&self, place: usize, options: SendOptions) -> Result<Option<ResponsePair>> {
        let orders = self.orders.get(&place);
        let orders = orders.with_context(|| format!("purchase {place} is not one that this injection sends"))?;
        let (reply_to, pair) = oneshot::channel();
        let send_order = SendOrder {
            options,
            intended: Instant::now(),
            reply_to,
        };
        if orders.send(send_order).await.is_err() {
            return Ok(None);
        }
        Ok(pair.await.ok())
    }

    /// Sends a sold purchase again and again to that instance, until `over`: only to see by which name it is answered. A
    /// round with a fault is sent by one process, so that the number of a purchase is its place.
    pub async fn ask_until(&self, sold: &Response, instance: usize, over: &SetOnce<()>) {
        let request = self.attack.sale.purchase(sold.number);
        let pause = || Duration::from_millis(rand::random_range(ASK_EVERY_MS));
        while timeout(pause(), over.wait()).await.is_err() {
            tokio::select! {
                _ = over.wait() => return,
                response = self.attack.at(instance, &request) => self.running.keep_asked(response),
            }
        }
    }

    /// Sends purchases with these options, the first of them at that place, until `struck` returns true for a response.
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
            sleep(NEXT_TRY_AFTER).await;
        }
        Ok(false)
    }
}
