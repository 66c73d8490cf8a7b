//! Goose's users, kept from round to round: each is a buyer who waits for the next attack.
//!
//! Goose takes half a second to begin and to end, and its users' first requests open connections. A crowd that stays
//! spends that once for many rounds, and measures the shop instead.

use std::sync::Arc;

use anyhow::{Context, Result, bail};
use goose::client::GooseClientBuilder;
use goose::config::{GooseConfiguration, GooseDefault, GooseDefaultType};
use goose::goose::{Scenario, Transaction, TransactionFunction};
use goose::metrics::GooseMetrics;
use goose::{GooseAttack, GooseError};
use tokio::sync::watch;
use tokio::task::JoinHandle;

use super::hush::Hush;
use super::{Attack, Running};
use crate::told::Told;

/// Users that goose starts per second: all of them, before the gate lets any of them go.
const ALL_AT_ONCE: &str = "1000000";

type Job = Option<Arc<Running>>;

/// So many buyers at one shop.
pub struct Crowd {
    host: String,
    buyers: usize,
    jobs: watch::Sender<Job>,
    goose: JoinHandle<Result<GooseMetrics, GooseError>>,
    _quiet: Hush,
}

impl Crowd {
    /// Starts the buyers. They share one HTTP client: one each would cost more than the purchases.
    ///
    /// # Errors
    /// When goose cannot be set up.
    pub fn gather(host: &str, buyers: usize) -> Result<Self> {
        let (jobs, next) = watch::channel(None);
        let goose = goose_attack(host, buyers, next).context("goose could not be set up")?;
        let quiet = Hush::stdout()?;
        Ok(Self {
            host: host.to_owned(),
            buyers,
            jobs,
            goose: tokio::spawn(goose.execute()),
            _quiet: quiet,
        })
    }

    /// Whether this crowd is the one that an attack needs.
    pub fn suits(&self, attack: &Attack) -> bool {
        self.host == attack.shop.host && self.buyers == attack.load.buyers
    }

    /// Lets the buyers loose and comes back when each purchase of the round has its answer. If one of them carries a
    /// fault, `mend` is run between the two waves.
    ///
    /// # Errors
    /// When goose has ended, or the damage cannot be mended. An answer that does not come is an answer, not an error.
    pub async fn attack(&mut self, attack: Attack, mend: impl Future<Output = Result<()>>) -> Result<Told> {
        let has_fault = attack.fault.is_some();
        let running = Arc::new(Running::new(attack));
        self.jobs.send_replace(Some(running.clone()));
        let attacked = async {
            if has_fault {
                running.struck.wait().await;
                mend.await?;
                // It is set by nobody else.
                let _ = running.mended.set(());
            }
            running.over.wait().await;
            Ok(running.told())
        };
        tokio::select! {
            told = attacked => told,
            ended = &mut self.goose => bail!("goose ended in the middle of an attack: {ended:?}"),
        }
    }

    /// Sends the buyers home.
    ///
    /// # Errors
    /// When goose ended badly.
    pub async fn dismiss(self) -> Result<()> {
        drop(self.jobs);
        self.goose.await?.context("goose ended badly")?;
        Ok(())
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
