//! Goose's buyers: one shared client, all released at once, an exact number of purchases.

mod hush;

use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, OnceLock, PoisonError};
use std::time::Instant;

use anyhow::{Context, Result};
use goose::config::{GooseConfiguration, GooseDefault, GooseDefaultType};
use goose::goose::{
    GooseMethod, GooseRequest, GooseUser, Scenario, Transaction, TransactionError, TransactionFunction,
};
use goose::{GooseAttack, client::GooseClientBuilder};
use tokio::sync::Barrier;

use crate::plan::Load;
use crate::shop::{Address, Wish};
use crate::told::{Answer, Told, hear};

/// Users that goose starts per second: all of them, before the barrier lets any of them go.
const ALL_AT_ONCE: &str = "1000000";

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
    /// Which purchase carries a fault, and which fault.
    pub fault: Option<(usize, &'static str)>,
}

/// What the buyers share while they buy.
struct Crowd {
    attack: Attack,
    gate: Barrier,
    released: OnceLock<Instant>,
    next: AtomicUsize,
    answers: Mutex<Vec<Answer>>,
}

impl Attack {
    /// Lets the buyers loose and comes back when each purchase of the plan has its answer.
    ///
    /// # Errors
    /// When goose cannot run. An answer that does not come is an answer, not an error.
    pub async fn run(self) -> Result<Told> {
        let load = self.load;
        let host = self.shop.host.clone();
        let crowd = Arc::new(Crowd {
            attack: self,
            gate: Barrier::new(load.buyers),
            released: OnceLock::new(),
            next: AtomicUsize::new(0),
            answers: Mutex::new(Vec::with_capacity(load.requests)),
        });
        let attack = goose_attack(&crowd, &host, load.buyers).context("goose could not be set up")?;
        let _quiet = hush::Hush::stdout()?;
        attack.execute().await.context("goose could not run the attack")?;
        let mut answers = crowd.answers.lock().unwrap_or_else(PoisonError::into_inner);
        Ok(Told {
            answers: std::mem::take(&mut *answers),
            ..Told::default()
        })
    }
}

fn goose_attack(crowd: &Arc<Crowd>, host: &str, buyers: usize) -> Result<GooseAttack, goose::GooseError> {
    let crowd = crowd.clone();
    let buy: TransactionFunction = Arc::new(move |user| {
        let crowd = crowd.clone();
        Box::pin(async move { crowd.buy(user).await })
    });
    let scenario = Scenario::new("flash sale").register_transaction(Transaction::new(buy));
    let attack = GooseAttack::initialize_with_config(GooseConfiguration::default())?
        .set_client_builder_without_cookies(GooseClientBuilder::new().without_cookies().gzip(false))?
        .register_scenario(scenario)
        .set_default(GooseDefault::Host, host)?
        .set_default(GooseDefault::Users, buyers)?
        .set_default(GooseDefault::IncreaseRate, ALL_AT_ONCE)?
        .set_default(GooseDefault::Iterations, 1)?
        .set_default(GooseDefault::NoTelnet, true)?
        .set_default(GooseDefault::NoWebSocket, true)?
        .set_default(GooseDefault::NoPrintMetrics, true)?
        .set_default(GooseDefault::Quiet, 2)?;
    Ok(*attack)
}

impl Crowd {
    /// One buyer: waits at the gate, then buys again and again until the round's purchases are spent.
    async fn buy(&self, user: &mut GooseUser) -> Result<(), Box<TransactionError>> {
        self.gate.wait().await;
        let mut intended = *self.released.get_or_init(Instant::now);
        loop {
            let place = self.next.fetch_add(1, Ordering::Relaxed);
            if place >= self.attack.load.requests {
                return Ok(());
            }
            intended = self.purchase(user, place, intended).await?;
        }
    }

    /// Sends one purchase and keeps its answer; the next one is meant to follow at once.
    async fn purchase(
        &self,
        user: &mut GooseUser,
        place: usize,
        intended: Instant,
    ) -> Result<Instant, Box<TransactionError>> {
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
        let request = wish.fill(user.get_request_builder(&GooseMethod::Post, "/purchases")?);
        let request = GooseRequest::builder()
            .set_request_builder(request)
            .name(strategy.as_str());
        let sent = Instant::now();
        let response = user.request(request.build()).await?.response;
        let (word, order, instance) = hear(response).await;
        let ended = Instant::now();
        let mut answers = self.answers.lock().unwrap_or_else(PoisonError::into_inner);
        answers.push(Answer {
            key,
            word,
            order,
            instance,
            intended,
            sent,
            ended,
        });
        Ok(ended)
    }
}
