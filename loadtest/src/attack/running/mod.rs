//! An attack while it goes on, shared by its buyers.

mod directed;
mod send;

use std::collections::HashMap;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Mutex, MutexGuard, OnceLock, PoisonError};
use std::time::{Duration, Instant};

use goose::goose::GooseUser;
use reqwest::Client;
use tokio::sync::{Barrier, SetOnce, mpsc, watch};
use tokio::time::sleep;

use self::directed::Progress;
use super::Attack;
use super::delivery::Delivery;
use super::send_order::SendOrder;
use super::twice::{AfterSale, Twice};
use crate::facts::Observation;
use crate::responses::Responses;
use crate::sale::Load;
use crate::shop::response::{Response, ResponseKind};

/// Sales that it takes to sell one unit twice.
const COMPETED: usize = 2;

/// How often buyers who were told to wait come back together until there were so many.
const COME_BACK: usize = 3;

/// After which they do.
const BACK_AFTER: Duration = Duration::from_secs(1);

/// As many purchases as a round of that load may send, those included with which buyers come back.
pub fn most_purchases(load: &Load) -> usize {
    load.requests + (COME_BACK + 1) * load.buyers
}

pub(in crate::attack) struct Running {
    pub(in crate::attack) attack: Attack,
    client: Client,
    gate: Barrier,
    /// Set when whatever is done to the shop is prepared.
    opened: SetOnce<()>,
    released: OnceLock<Instant>,
    next: AtomicUsize,
    /// How far each item is.
    items: Vec<Item>,
    /// When buyers who were told to wait come back together, if they shall.
    back_at: Mutex<Option<Instant>>,
    twice: Twice,
    /// What the deed says to those whose purchases it sends.
    directed: Mutex<HashMap<usize, mpsc::Receiver<SendOrder>>>,
    /// By what it says so, until it takes them.
    directors: Mutex<HashMap<usize, mpsc::Sender<SendOrder>>>,
    progress: watch::Sender<Progress>,
    /// Whether the damage of the deed was healed: if not, there is no second wave.
    pub(in crate::attack) healed: SetOnce<bool>,
    responses: Mutex<Responses>,
    observations: Mutex<Vec<(usize, Observation)>>,
    buyers: AtomicUsize,
    pub(in crate::attack) over: SetOnce<()>,
}

/// One item of the round.
struct Item {
    /// Sales heard of so far.
    sales: AtomicUsize,
    /// Whether anybody was told sold out.
    refused: AtomicBool,
    after_sale: AfterSale,
}

/// A buyer, who is gone when this is dropped, in whatever way.
struct Present<'a>(&'a Running);

impl Drop for Present<'_> {
    fn drop(&mut self) {
        if self.0.buyers.fetch_sub(1, Ordering::Relaxed) == 1 {
            // It is set by nobody else.
            let _ = self.0.over.set(());
        }
    }
}

impl Item {
    fn of(load: &Load) -> Self {
        Self {
            sales: AtomicUsize::new(0),
            refused: AtomicBool::new(false),
            after_sale: AfterSale::draw(load),
        }
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
        let (directors, directed): (HashMap<_, _>, HashMap<_, _>) = channels.unzip();
        Self {
            client,
            gate: Barrier::new(buyers),
            opened: SetOnce::new_with(attack.injection.is_none().then_some(())),
            released: OnceLock::new(),
            next: AtomicUsize::new(0),
            items: attack.sale.sales.iter().map(|sale| Item::of(&sale.load)).collect(),
            back_at: Mutex::default(),
            twice: Twice::draw(&attack),
            directed: Mutex::new(directed),
            directors: Mutex::new(directors),
            progress: watch::Sender::default(),
            healed: SetOnce::new(),
            responses: Mutex::default(),
            observations: Mutex::default(),
            buyers: AtomicUsize::new(buyers),
            over: SetOnce::new(),
            attack,
        }
    }

    /// What was said and seen.
    pub(in crate::attack) fn results(&self) -> (Responses, Vec<(usize, Observation)>) {
        (
            std::mem::take(&mut locked(&self.responses)),
            std::mem::take(&mut locked(&self.observations)),
        )
    }

    /// Purchases answered so far.
    pub(in crate::attack) fn answered(&self) -> usize {
        locked(&self.responses).attack.len()
    }

    /// Whether any answer of the attack so far is like that.
    pub(in crate::attack) fn any_answer(&self, is: impl Fn(&Response) -> bool) -> bool {
        locked(&self.responses).attack.iter().any(is)
    }

    /// One buyer: waits at the gate, then buys again and again until the round's purchases are spent.
    pub(in crate::attack) async fn buy(&self, user: &mut GooseUser) {
        let _present = Present(self);
        user.client = self.client.clone();
        self.gate.wait().await;
        let load = &self.attack.sale.load;
        let mut next = None;
        while let Some(place) = self.next_place() {
            let send_orders = locked(&self.directed).remove(&place);
            if let Some(send_orders) = send_orders {
                self.follow(user, place, send_orders).await;
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
                Some(follows) => next = Some(follows),
                None => return,
            }
        }
        while let Some(at) = self.comes_back().await {
            sleep(at.saturating_duration_since(Instant::now())).await;
            let place = self.next.fetch_add(1, Ordering::Relaxed);
            self.purchase(user, place, Instant::now()).await;
        }
    }

    /// One purchase, and what is to be done after it. When the next one is meant to follow, unless there is to be none.
    async fn purchase(&self, user: &mut GooseUser, place: usize, intended: Instant) -> Option<Instant> {
        let request = self.attack.sale.purchase(place);
        let delivery = self.twice.delivery(place);
        let (response, copy) = self.deliver(user, &request, delivery, intended).await;
        let (kind, ended) = (response.kind, response.ended);
        self.keep(response, copy, false);
        // Who waited for the answer to a copy as well, or looked, can only now send the next one.
        let next = if self.after_answer(kind, place).await || delivery != Delivery::Once {
            Instant::now()
        } else {
            ended
        };
        // It may still be carried out, and the next one would no longer be alone.
        let is_over = kind == ResponseKind::Unknown && self.attack.one_at_a_time;
        (!is_over).then_some(next)
    }

    /// When all buyers come back together: where all but one were told to wait, nobody has competed yet.
    async fn comes_back(&self) -> Option<Instant> {
        if self.attack.one_at_a_time || self.attack.injection.is_some() {
            return None;
        }
        // All have their answers.
        if self.gate.wait().await.is_leader() {
            let responses = locked(&self.responses);
            let load = &self.attack.sale.load;
            let some_wait = responses
                .attack
                .iter()
                .any(|response| response.kind == ResponseKind::Busy);
            let may_come = responses.attack.len() < load.requests + COME_BACK * load.buyers;
            let sales = self.items.iter().map(|item| item.sales.load(Ordering::Relaxed));
            let few = sales.sum::<usize>() < COMPETED;
            *locked(&self.back_at) = (few && some_wait && may_come).then(|| Instant::now() + BACK_AFTER);
        }
        // All know what was decided.
        self.gate.wait().await;
        *locked(&self.back_at)
    }

    fn keep(&self, response: Response, copy: Option<Response>, is_directed: bool) {
        self.progress
            .send_modify(|progress| progress.count(response.kind, is_directed));
        let mut responses = locked(&self.responses);
        responses.repeats.extend(copy);
        responses.attack.push(response);
    }

    fn next_place(&self) -> Option<usize> {
        let place = self.next.fetch_add(1, Ordering::Relaxed);
        (place < self.attack.sale.load.requests).then_some(place)
    }

    /// Looks and clicks again where this round was drawn to. Whether it did anything.
    async fn after_answer(&self, kind: ResponseKind, place: usize) -> bool {
        let item = self.attack.sale.place_of(place);
        match kind {
            ResponseKind::Sold => self.after_sale(place, item).await,
            // Whatever was told sold before has to be in the ledger by now.
            ResponseKind::SoldOut if !self.items[item].refused.swap(true, Ordering::Relaxed) => {
                self.snapshot(item).await;
                true
            }
            ResponseKind::SoldOut | ResponseKind::Busy | ResponseKind::Rejected | ResponseKind::Unknown => false,
        }
    }

    async fn after_sale(&self, place: usize, item: usize) -> bool {
        let Item { sales, after_sale, .. } = &self.items[item];
        let heard = sales.fetch_add(1, Ordering::Relaxed);
        let alone = self.attack.one_at_a_time;
        let observations = heard == 0 || heard == after_sale.observed || alone;
        let (repeats, alters) = (heard == after_sale.repeated, heard == after_sale.altered);
        let look = async {
            if observations {
                self.snapshot(item).await;
            }
        };
        let click = async {
            if repeats {
                self.repeat(place).await;
            }
            if alters {
                self.alter(place).await;
            }
        };
        if alone {
            look.await;
            click.await;
        } else {
            // At once, before the units are gone that a forgetful shop could sell.
            tokio::join!(look, click);
        }
        observations || repeats || alters
    }

    async fn snapshot(&self, item: usize) {
        // A store that does not answer now is asked again when the attack is over.
        if let Ok(look) = self.attack.sale.sales[item].snapshot().await {
            locked(&self.observations).push((item, look));
        }
    }

    async fn repeat(&self, place: usize) {
        let (response, _) = self.attack.sale.buy(place).await;
        locked(&self.responses).repeats.push(response);
    }

    async fn alter(&self, place: usize) {
        let sale = &self.attack.sale;
        let [larger, strangers] = sale.altered(place);
        let (larger, strangers) = (sale.client.buy(&larger), sale.client.buy(&strangers));
        let responses = if self.attack.one_at_a_time {
            (larger.await, strangers.await)
        } else {
            tokio::join!(larger, strangers)
        };
        let ((larger, _), (strangers, _)) = responses;
        locked(&self.responses).altered.extend([larger, strangers]);
    }
}
