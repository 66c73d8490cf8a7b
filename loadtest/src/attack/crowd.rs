//! Goose's users, kept from round to round. Each user is a buyer that waits for the next attack.
//!
//! Goose needs half a second to start and to stop, and the first requests of its users open connections. A crowd that
//! stays pays for this once in many rounds. Goose also prints to stdout: a program that needs stdout for something else
//! has to redirect it.

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

use super::control::Seen;
use super::longest::longest;
use super::running::Running;
use super::{Attack, AttackControl, Proof};
use crate::audit::{Absence, FaultSeen};
use crate::deployment::RunningShop;
use crate::facts::Observation;
use crate::http;
use crate::responses::Responses;
use crate::shop::{ANSWER_WITHIN, Address};
use crate::trace::Incident;

/// The number of users that goose starts per second: all of them start before the gate opens.
const ALL_AT_ONCE: &str = "1000000";

/// The longest time without any response, besides the time of a purchase and of a restart. After it the attack is given
/// up.
const STALLED_AFTER: Duration = Duration::from_secs(60);

/// The longest time that goose may need to stop.
const DISMISSED_WITHIN: Duration = Duration::from_secs(10);

/// Why a round proves nothing whose fault left a proof, but not all that its injection asks for.
const STRUCK_IN_PART: &str = "the fault struck only in part";

type Job = Option<Arc<Running>>;

/// A fixed number of buyers at one shop.
pub struct Crowd {
    host: String,
    buyers: usize,
    client: Client,
    jobs: watch::Sender<Job>,
    goose: JoinHandle<Result<GooseMetrics, GooseError>>,
}

/// The result of an attack.
pub struct AttackResult {
    /// All responses to the buyers.
    pub responses: Responses,
    /// Observations of the ledgers during the attack, each with the place of its item.
    pub observations: Vec<(usize, Observation)>,
    /// When readings of a ledger began that failed, each with the place of its item.
    pub failed_looks: Vec<(usize, Instant)>,
    /// Whether the fault struck; `None` in an attack without an injection.
    pub fault: Option<FaultSeen>,
    /// The incidents of the attack, for the story of the round.
    pub incidents: Vec<Incident>,
    /// The proofs that the fault struck.
    pub struck: Vec<Proof>,
    /// The instances that could not answer for a while because of the fault.
    pub absent: Vec<Absence>,
}

impl Crowd {
    /// Starts the buyers. All of them share one HTTP client: a client for each would cost more than the purchases.
    ///
    /// # Errors
    /// When goose cannot be set up.
    pub fn gather(at: &Address, buyers: usize) -> Result<Self> {
        let (jobs, next) = watch::channel(None);
        let goose = goose_attack(&at.host, buyers, next).context("goose could not be set up")?;
        Ok(Self {
            host: at.host.clone(),
            buyers,
            client: http::keeping_connections(ANSWER_WITHIN, &at.trust)?,
            jobs,
            goose: tokio::spawn(goose.execute()),
        })
    }

    /// Returns whether this crowd fits an attack: the same shop and the same number of buyers.
    pub fn suits(&self, attack: &Attack) -> bool {
        self.host == attack.sale.client.at.host && self.buyers == attack.sale.load.buyers
    }

    /// Releases the buyers and returns when each purchase of the round has its response. An injection acts on `shop`,
    /// which is healed between the two waves.
    ///
    /// # Errors
    /// When goose has ended, the fault cannot be injected or healed, no response comes any more, or the attack takes
    /// longer than its load allows. A single missing response is a result, not an error.
    pub async fn attack(&mut self, attack: Attack, shop: Option<&RunningShop>) -> Result<AttackResult> {
        let limit = STALLED_AFTER + attack.sale.purchase(0).patience();
        let within = longest(&attack.sale.load, attack.one_at_a_time, attack.injection.is_some());
        let running = Arc::new(Running::new(attack, self.client.clone()));
        self.jobs.send_replace(Some(running.clone()));
        let attacked = async {
            let injected = inject_and_heal(&running, shop).await;
            // This is the only place that sets it.
            let _ = running.healed.set(injected.is_ok());
            let (fault, seen) = injected?;
            tokio::join!(running.over.wait(), running.watch_ledgers());
            let (responses, looks) = running.take_results();
            Ok(AttackResult {
                responses,
                observations: looks.observations,
                failed_looks: looks.failed,
                fault,
                incidents: seen.incidents,
                struck: seen.struck,
                absent: seen.absent,
            })
        };
        tokio::select! {
            attacked = attacked => attacked,
            () = stalled(&running, limit) => bail!("the shop sent no response for {limit:?}"),
            () = sleep(within) => bail!("the attack took longer than {within:?}, the most that its load allows"),
            ended = &mut self.goose => bail!("goose ended in the middle of an attack: {ended:?}"),
        }
    }

    /// Stops the buyers.
    ///
    /// # Errors
    /// When goose fails, or does not stop in time.
    pub async fn dismiss(self) -> Result<()> {
        drop(self.jobs);
        timeout(DISMISSED_WITHIN, self.goose)
            .await
            .context("goose does not stop")??
            .context("goose failed")?;
        Ok(())
    }
}

/// Injects the fault of the first wave, if there is one, and heals the shop for the second wave. A fault that left no
/// proof counts as one that may have missed, whatever its injection returns. A proof counts even if the injection says
/// that the fault missed: a process that was killed explains missing answers.
async fn inject_and_heal(running: &Running, shop: Option<&RunningShop>) -> Result<(Option<FaultSeen>, Seen)> {
    let Some(injection) = running.attack.injection else {
        return Ok((None, Seen::default()));
    };
    let shop = shop.context("a fault cannot be injected into a shop of which only the public address is known")?;
    // The control is dropped before the shop is healed, so that the injection's buyers go on.
    let (has_struck, mistimed, seen) = {
        let control = AttackControl::new(shop, running);
        let has_struck = (injection.run)(&control).await?;
        control.release_buyers();
        (has_struck, control.mistimed(), control.into_seen())
    };
    shop.heal().await?;
    let fault = match (has_struck, seen.struck.is_empty()) {
        (false, true) => FaultSeen::Missed,
        (true, true) => FaultSeen::Unproven,
        (_, false) => FaultSeen::Struck {
            healed: Instant::now(),
            explains: injection.explains,
            mistimed: mistimed.or((!has_struck).then_some(STRUCK_IN_PART)),
        },
    };
    Ok((Some(fault), seen))
}

/// Returns when no response came for `limit`.
async fn stalled(running: &Running, limit: Duration) {
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
            // The channel closes when the crowd is dismissed.
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
