//! Goose's users, kept from round to round: each is a buyer who waits for the next attack.
//!
//! Goose takes half a second to begin and to end, and its users' first requests open connections. A crowd that stays
//! spends that once for many rounds, and measures the shop instead. It prints to stdout what nobody asked for; whoever
//! needs stdout for something else has to keep it aside.

use std::sync::Arc;
use std::time::{Duration, Instant};

use anyhow::{Context, Result, bail};
use goose::client::GooseClientBuilder;
use goose::config::{GooseConfiguration, GooseDefault, GooseDefaultType};
use goose::goose::{Scenario, Transaction, TransactionFunction};
use goose::metrics::GooseMetrics;
use goose::{GooseAttack, GooseError};
use reqwest::Client;
use tokio::sync::watch;
use tokio::task::JoinHandle;
use tokio::time::{sleep, timeout};

use super::running::Running;
use super::{Attack, AttackControl};
use crate::audit::FaultSeen;
use crate::deployment::RunningShop;
use crate::facts::Observation;
use crate::http;
use crate::responses::Responses;
use crate::shop::ANSWER_WITHIN;

/// Users that goose starts per second: all of them, before the gate lets any of them go.
const ALL_AT_ONCE: &str = "1000000";

/// How long nothing may be answered, besides what a purchase and a restart may take, until the attack is given up.
const STANDSTILL: Duration = Duration::from_secs(60);

/// How long buyers may take to go home.
const GONE_WITHIN: Duration = Duration::from_secs(10);

type Job = Option<Arc<Running>>;

/// So many buyers at one shop.
pub struct Crowd {
    host: String,
    buyers: usize,
    client: Client,
    jobs: watch::Sender<Job>,
    goose: JoinHandle<Result<GooseMetrics, GooseError>>,
}

/// What came of an attack.
pub struct AttackResult {
    /// What buyers were told.
    pub responses: Responses,
    /// What was seen of the ledger of which item meanwhile.
    pub observations: Vec<(usize, Observation)>,
    /// Whether the deed struck, if there was to be one.
    pub fault: Option<FaultSeen>,
}

impl Crowd {
    /// Starts the buyers. They share one HTTP client: one each would cost more than the purchases.
    ///
    /// # Errors
    /// When goose cannot be set up.
    pub fn gather(host: &str, buyers: usize) -> Result<Self> {
        let (jobs, next) = watch::channel(None);
        let goose = goose_attack(host, buyers, next).context("goose could not be set up")?;
        Ok(Self {
            host: host.to_owned(),
            buyers,
            client: http::keeping_connections(ANSWER_WITHIN)?,
            jobs,
            goose: tokio::spawn(goose.execute()),
        })
    }

    /// Whether this crowd is the one that an attack needs.
    pub fn suits(&self, attack: &Attack) -> bool {
        self.host == attack.sale.client.at.host && self.buyers == attack.sale.load.buyers
    }

    /// Lets the buyers loose and comes back when each purchase of the round has its answer. Where there is a deed, it is done
    /// to `shop`, which is healed between the two waves.
    ///
    /// # Errors
    /// When goose has ended, the deed cannot be done or its damage not be healed, or nothing is answered any more. An
    /// answer that does not come is an answer, not an error.
    pub async fn attack(&mut self, attack: Attack, shop: Option<&RunningShop>) -> Result<AttackResult> {
        let limit = STANDSTILL + attack.sale.purchase(0).patience();
        let running = Arc::new(Running::new(attack, self.client.clone()));
        self.jobs.send_replace(Some(running.clone()));
        let attacked = async {
            let fault = break_and_heal(&running, shop).await;
            // It is set by nobody else.
            let _ = running.healed.set(fault.is_ok());
            let fault = fault?;
            running.over.wait().await;
            let (responses, observations) = running.results();
            Ok(AttackResult {
                responses,
                observations,
                fault,
            })
        };
        tokio::select! {
            attacked = attacked => attacked,
            () = stands_still(&running, limit) => bail!("nothing was answered for {limit:?}"),
            ended = &mut self.goose => bail!("goose ended in the middle of an attack: {ended:?}"),
        }
    }

    /// Sends the buyers home.
    ///
    /// # Errors
    /// When goose ended badly, or does not end.
    pub async fn dismiss(self) -> Result<()> {
        drop(self.jobs);
        timeout(GONE_WITHIN, self.goose)
            .await
            .context("goose does not end")??
            .context("goose ended badly")?;
        Ok(())
    }
}

/// The deed of the first wave, if there is one, and what makes the second one possible.
async fn break_and_heal(running: &Running, shop: Option<&RunningShop>) -> Result<Option<FaultSeen>> {
    let Some(injection) = running.attack.injection else {
        return Ok(None);
    };
    let shop = shop.context("nothing can be done to a shop of which only the door is known")?;
    // Dropped before the shop is healed: those who were told by it what to send are free.
    let struck = {
        let control = AttackControl::new(shop, running);
        let struck = (injection.run)(&control).await?;
        control.begin();
        struck
    };
    shop.heal().await?;
    Ok(Some(if struck {
        FaultSeen::Struck {
            healed: Instant::now(),
            explains: injection.explains,
        }
    } else {
        FaultSeen::Missed
    }))
}

/// Comes back when nothing was answered for `limit`.
async fn stands_still(running: &Running, limit: Duration) {
    let mut before = None;
    loop {
        let now = running.answered();
        if before == Some(now) {
            return;
        }
        before = Some(now);
        sleep(limit).await;
    }
}

fn goose_attack(host: &str, buyers: usize, next: watch::Receiver<Job>) -> Result<GooseAttack, GooseError> {
    let buyer: TransactionFunction = Arc::new(move |user| {
        let mut next = next.clone();
        Box::pin(async move {
            // No more jobs when the crowd is dismissed.
            while next.changed().await.is_ok() {
                let job = next.borrow_and_update().clone();
                if let Some(running) = job {
                    running.buy(user).await;
                }
            }
            Ok(())
        })
    });
    let scenario = Scenario::new("flash sale").register_transaction(Transaction::new(buyer));
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
