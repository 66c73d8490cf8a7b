//! An attack that goes on, shared by its buyers.

mod after_answer;
mod injected;
mod looks;
mod send;

use std::collections::HashMap;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, OnceLock, PoisonError};
use std::time::{Duration, Instant};

use goose::goose::GooseUser;
use reqwest::Client;
use tokio::sync::{Barrier, SetOnce, mpsc, watch};
use tokio::time::sleep;

use self::injected::Progress;
use self::looks::Looks;
use super::Attack;
use super::delivery::Delivery;
use super::repeats::{AfterSale, DoubleClicks};
use super::send_order::SendOrder;
use crate::audit::enough_sales;
use crate::responses::Responses;
use crate::sale::Load;
use crate::shop::response::{Response, ResponseKind};

/// How often all buyers return together to items that told buyers busy, until each of them had [`enough_sales`].
pub(in crate::attack) const MOST_RETURNS: usize = 3;

/// The pause before they return.
pub(in crate::attack) const RETURN_AFTER: Duration = Duration::from_secs(1);

/// Returns a number above those of all purchases of a round of that load, with those of returning buyers.
pub fn end_of_numbers(load: &Load) -> usize {
    load.requests + load.items * (1 + MOST_RETURNS * load.buyers)
}

pub(in crate::attack) struct Running {
    pub(in crate::attack) attack: Attack,
    client: Client,
    gate: Barrier,
    /// Set when the injection lets the buyers start.
    opened: SetOnce<()>,
    released: OnceLock<Instant>,
    next: AtomicUsize,
    items: Vec<Item>,
    /// The time at which the buyers return together, and the items that they return to.
    returning: Mutex<Option<(Instant, Arc<[usize]>)>>,
    /// The purchases of returning buyers so far.
    returned: AtomicUsize,
    double_clicks: DoubleClicks,
    /// Receivers of the injection's orders, by the place of the purchase.
    order_receivers: Mutex<HashMap<usize, mpsc::Receiver<SendOrder>>>,
    /// Senders of these orders, until the injection takes them.
    order_senders: Mutex<HashMap<usize, mpsc::Sender<SendOrder>>>,
    progress: watch::Sender<Progress>,
    /// Whether the shop was healed after the fault. Without that there is no second wave.
    pub(in crate::attack) healed: SetOnce<bool>,
    /// Whether any buyer got a clear response.
    is_answered: AtomicBool,
    responses: Mutex<Responses>,
    looks: Mutex<Looks>,
    buyers: AtomicUsize,
    pub(in crate::attack) over: SetOnce<()>,
}

/// The progress of one item.
struct Item {
    sales: AtomicUsize,
    /// The sales that it needs.
    enough: usize,
    /// Whether a buyer was told busy.
    busy: AtomicBool,
    /// Whether a buyer was told sold out.
    refused: AtomicBool,
    after_sale: AfterSale,
}

/// A buyer that takes part until this is dropped.
struct ActiveBuyer<'a>(&'a Running);

impl Drop for ActiveBuyer<'_> {
    fn drop(&mut self) {
        if self.0.buyers.fetch_sub(1, Ordering::Relaxed) == 1 {
            // This is the only place that sets it.
            let _ = self.0.over.set(());
        }
    }
}

impl Item {
    fn of(load: &Load) -> Self {
        Self {
            sales: AtomicUsize::new(0),
            enough: enough_sales(load.stock, load.quantity.into()) as usize,
            busy: AtomicBool::new(false),
            refused: AtomicBool::new(false),
            after_sale: AfterSale::draw(load),
        }
    }

    /// Returns whether buyers were told busy and too few were sold to.
    fn is_short(&self) -> bool {
        self.busy.load(Ordering::Relaxed) && self.sales.load(Ordering::Relaxed) < self.enough
    }
}

fn locked<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

impl Running {
    pub(in crate::attack) fn new(attack: Attack, client: Client) -> Self {
        let buyers = attack.sale.load.buyers;
        let channels = attack.injected_places().into_iter().map(|place| {
            let (sender, receiver) = mpsc::channel(1);
            ((place, sender), (place, receiver))
        });
        let (order_senders, order_receivers): (HashMap<_, _>, HashMap<_, _>) = channels.unzip();
        Self {
            client,
            gate: Barrier::new(buyers),
            opened: SetOnce::new_with(attack.injection.is_none().then_some(())),
            released: OnceLock::new(),
            next: AtomicUsize::new(0),
            items: attack.sale.sales.iter().map(|sale| Item::of(&sale.load)).collect(),
            returning: Mutex::default(),
            returned: AtomicUsize::new(0),
            double_clicks: DoubleClicks::draw(&attack),
            order_receivers: Mutex::new(order_receivers),
            order_senders: Mutex::new(order_senders),
            progress: watch::Sender::default(),
            healed: SetOnce::new(),
            is_answered: AtomicBool::new(false),
            responses: Mutex::default(),
            looks: Mutex::default(),
            buyers: AtomicUsize::new(buyers),
            over: SetOnce::new(),
            attack,
        }
    }

    pub(in crate::attack) fn take_results(&self) -> (Responses, Looks) {
        (
            std::mem::take(&mut locked(&self.responses)),
            std::mem::take(&mut locked(&self.looks)),
        )
    }

    pub(in crate::attack) fn keep_asked(&self, response: Response) {
        locked(&self.responses).asked.push(response);
    }

    pub(in crate::attack) fn answered(&self) -> usize {
        locked(&self.responses).attack.len()
    }

    /// Plays one buyer: waits at the gate, then buys again and again until the round's purchases are used up.
    pub(in crate::attack) async fn buy(&self, user: &mut GooseUser) {
        let _active = ActiveBuyer(self);
        user.client = self.client.clone();
        self.gate.wait().await;
        let load = &self.attack.sale.load;
        let mut next = None;
        while !self.is_silent()
            && let Some(place) = self.next_place()
        {
            let orders = locked(&self.order_receivers).remove(&place);
            if let Some(orders) = orders {
                self.send_injected(user, place, orders).await;
                continue;
            }
            self.opened.wait().await;
            let mut intended = next.unwrap_or_else(|| *self.released.get_or_init(Instant::now));
            if self.attack.injection.is_some() && place >= load.buyers {
                if !*self.healed.wait().await {
                    return;
                }
                intended = Instant::now();
            }
            match self.purchase(user, place, intended).await {
                Some(intended) => next = Some(intended),
                None => return,
            }
        }
        while let Some((at, items)) = self.next_return().await {
            sleep(at.saturating_duration_since(Instant::now())).await;
            let nth = self.returned.fetch_add(1, Ordering::Relaxed);
            let place = self.attack.sale.further_place(nth, items[nth % items.len()]);
            self.purchase(user, place, Instant::now()).await;
        }
    }

    /// Sends one purchase and its repeats. Returns the intended start of the next purchase, or `None` when the buyer
    /// stops.
    async fn purchase(&self, user: &mut GooseUser, place: usize, intended: Instant) -> Option<Instant> {
        let request = self.attack.sale.purchase(place);
        let delivery = self.double_clicks.delivery(place);
        let (response, copy) = self.deliver(user, &request, delivery, intended).await;
        let ended = response.ended;
        let kind = match &copy {
            Some(copy) if copy.kind == ResponseKind::Sold => ResponseKind::Sold,
            Some(_) | None => response.kind,
        };
        self.keep(response, copy, false);
        // A buyer that waited for a second response or read the ledger can send the next purchase only now.
        let next = if self.after_answer(kind, place).await || delivery != Delivery::Once {
            Instant::now()
        } else {
            ended
        };
        // The shop may still carry the purchase out, and the next one would no longer be alone.
        let must_stop = kind == ResponseKind::Unknown && self.attack.one_at_a_time;
        (!must_stop).then_some(next)
    }

    /// Returns when all buyers return together, and to which items: those at which all purchases but one were told busy, so
    /// that no two have competed yet.
    async fn next_return(&self) -> Option<(Instant, Arc<[usize]>)> {
        if self.attack.one_at_a_time || self.attack.injection.is_some() {
            return None;
        }
        // The barrier opens when all buyers have their responses.
        if self.gate.wait().await.is_leader() {
            let may_return = self.returned.load(Ordering::Relaxed) < MOST_RETURNS * self.attack.sale.load.buyers;
            let items = self
                .items
                .iter()
                .enumerate()
                .filter(|(_, item)| may_return && item.is_short());
            let items: Arc<[usize]> = items.map(|(place, _)| place).collect();
            *locked(&self.returning) = (!items.is_empty()).then(|| (Instant::now() + RETURN_AFTER, items));
        }
        // The second barrier lets all buyers read the same decision.
        self.gate.wait().await;
        locked(&self.returning).clone()
    }

    fn keep(&self, response: Response, copy: Option<Response>, is_injected: bool) {
        self.progress
            .send_modify(|progress| progress.count(response.kind, is_injected));
        if response.kind != ResponseKind::Unknown {
            self.is_answered.store(true, Ordering::Relaxed);
        }
        let is_sold = |response: &Response| response.kind == ResponseKind::Sold;
        if is_sold(&response) || copy.as_ref().is_some_and(is_sold) {
            self.attack.sale.note_sold();
        }
        let mut responses = locked(&self.responses);
        responses.repeats.extend(copy);
        responses.attack.push(response);
    }

    /// Returns whether nothing was broken and yet no buyer got a clear response, although each of them has asked once.
    /// Such a round proves nothing, and more purchases would only take time.
    fn is_silent(&self) -> bool {
        let is_broken = self.attack.injection.is_some();
        let is_answered = self.is_answered.load(Ordering::Relaxed);
        !is_broken && !is_answered && self.answered() >= self.attack.sale.load.buyers
    }

    fn next_place(&self) -> Option<usize> {
        let place = self.next.fetch_add(1, Ordering::Relaxed);
        (place < self.attack.sale.load.requests).then_some(place)
    }
}
