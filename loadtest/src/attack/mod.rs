//! The attack of one round: all buyers released at once, an exact number of purchases, every answer kept.

mod crowd;
mod hush;

use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Mutex, OnceLock, PoisonError};
use std::time::Instant;

use goose::goose::{GooseMethod, GooseRequest, GooseUser};
use tokio::sync::{Barrier, SetOnce};

pub use crowd::Crowd;

use crate::plan::Load;
use crate::shop::{Address, Wish};
use crate::told::{Answer, Told, Word, hear};

/// What the buyers of one round are after.
pub struct Attack {
    /// Where they buy.
    pub shop: Address,
    /// By which strategy.
    pub strategy: String,
    /// What.
    pub item: String,
    /// How many of them, how often, how much.
    pub load: Load,
    /// Which purchase of the first wave carries a fault, and which fault. Every buyer's first purchase is the first
    /// wave; the second begins when the fault has struck and its damage is mended, so that neither misses the other.
    pub fault: Option<(usize, &'static str)>,
}

/// An attack while it goes on, shared by its buyers.
struct Running {
    attack: Attack,
    gate: Barrier,
    released: OnceLock<Instant>,
    next: AtomicUsize,
    struck: SetOnce<()>,
    mended: SetOnce<()>,
    answers: Mutex<Vec<Answer>>,
    over: Barrier,
}

impl Running {
    fn new(attack: Attack) -> Self {
        let Load { buyers, requests, .. } = attack.load;
        Self {
            attack,
            gate: Barrier::new(buyers),
            released: OnceLock::new(),
            next: AtomicUsize::new(0),
            struck: SetOnce::new(),
            mended: SetOnce::new(),
            answers: Mutex::new(Vec::with_capacity(requests)),
            // The buyers, and whoever waits for them.
            over: Barrier::new(buyers + 1),
        }
    }

    /// One buyer: waits at the gate, then buys again and again until the round's purchases are spent.
    async fn buy(&self, user: &mut GooseUser) {
        self.gate.wait().await;
        let mut intended = *self.released.get_or_init(Instant::now);
        loop {
            let place = self.next.fetch_add(1, Ordering::Relaxed);
            if place >= self.attack.load.requests {
                break;
            }
            if self.attack.fault.is_some() && place >= self.attack.load.buyers {
                self.mended.wait().await;
                intended = Instant::now();
            }
            let answer = self.purchase(user, place, intended).await;
            // The next one is meant to follow at once.
            intended = answer.ended;
            self.answers.lock().unwrap_or_else(PoisonError::into_inner).push(answer);
            if self.attack.fault.is_some_and(|(at, _)| at == place) {
                // It is set by nobody else.
                let _ = self.struck.set(());
            }
        }
        self.over.wait().await;
    }

    async fn purchase(&self, user: &mut GooseUser, place: usize, intended: Instant) -> Answer {
        let Attack {
            shop,
            strategy,
            item,
            load,
            fault,
        } = &self.attack;
        let key = format!("{item}-{place}");
        let fault = fault.filter(|(at, _)| *at == place);
        let wish = Wish {
            strategy,
            item,
            quantity: load.quantity,
            buyer: &format!("b-{place}"),
            key: &key,
            work_ms: load.work_ms,
            fault: fault.map(|(_, fault)| (fault, shop.admin_token.as_str())),
        };
        let sent = Instant::now();
        let (word, order, instance) = match user.get_request_builder(&GooseMethod::Post, "/purchases") {
            Err(_) => (Word::Unknown, None, None),
            Ok(request) => {
                let request = GooseRequest::builder()
                    .set_request_builder(wish.fill(request))
                    .name(strategy.as_str())
                    .build();
                match user.request(request).await {
                    Err(_) => (Word::Unknown, None, None),
                    Ok(answer) => hear(answer.response).await,
                }
            }
        };
        Answer {
            key,
            word,
            order,
            instance,
            intended,
            sent,
            ended: Instant::now(),
        }
    }

    fn told(&self) -> Told {
        let mut answers = self.answers.lock().unwrap_or_else(PoisonError::into_inner);
        Told {
            answers: std::mem::take(&mut *answers),
            ..Told::default()
        }
    }
}
