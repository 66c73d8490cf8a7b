//! Plays the plan: for each round a fresh sale, the attack with its fault, what follows it, the verdict. What a round
//! showed is kept before the next one begins; at the end of the run all ledgers are looked at once more.

use std::sync::Arc;
use std::time::Instant;

use anyhow::{Context, Result};

use crate::attack::{Attack, Crowd, Fault};
use crate::audit::Expectation;
use crate::cell;
use crate::deployment::{Deployment, RunningShop};
use crate::facts::LedgerReader;
use crate::follow_up::FollowUp;
use crate::open_sales::OpenSales;
use crate::plan::Round;
use crate::result::{RoundResult, RunResult};
use crate::sale::Sale;

/// Who is told of each round: to show progress, and to keep what it showed.
pub trait RunObserver: Send + Sync {
    /// A round begins; `done` of `all` are over.
    fn begins(&self, round: &Round, done: usize, all: usize);

    /// All rounds were played, and `sales` ledgers are looked at once more.
    fn looks_again(&self, sales: usize);

    /// A round is over, or all are, and `run` holds all there is so far.
    ///
    /// # Errors
    /// When it cannot be kept: the run ends, rather than measure for nothing.
    fn keeps(&self, run: &RunResult) -> Result<()>;
}

/// Plays all rounds into `run`. Items are named after `run_id`, so that no two runs on one pair of stores meet.
///
/// # Errors
/// When a part of the experiment fails; what the shop does wrong is a finding, not an error. `run` then says that it
/// ended early, and why.
pub async fn play(
    deployment: &mut Deployment,
    reader: &Arc<LedgerReader>,
    rounds: &[Round],
    run_id: &str,
    run: &mut RunResult,
    observer: &dyn RunObserver,
) -> Result<()> {
    let mut experiment = Experiment {
        deployment,
        reader,
        run_id,
        crowd: None,
        open: OpenSales::default(),
    };
    let played = experiment.rounds(rounds, run, observer).await;
    observer.looks_again(experiment.open.len());
    let closed = experiment.open.close_all(run).await;
    let dismissed = match experiment.crowd {
        Some(crowd) if played.is_ok() => crowd.dismiss().await,
        Some(_) | None => Ok(()),
    };
    let ended = played.and(closed).and(dismissed);
    run.ended_early = ended
        .as_ref()
        .err()
        .map(|error| format!("{}: {error:#}", progress(run, rounds)));
    run.as_designed = cell::claim_check(run).as_designed();
    observer.keeps(run)?;
    ended
}

fn progress(run: &RunResult, rounds: &[Round]) -> String {
    format!("after {} of {} rounds", run.rounds.len(), rounds.len())
}

struct Experiment<'a> {
    deployment: &'a mut Deployment,
    reader: &'a Arc<LedgerReader>,
    run_id: &'a str,
    crowd: Option<Crowd>,
    open: OpenSales,
}

impl Experiment<'_> {
    async fn rounds(&mut self, rounds: &[Round], run: &mut RunResult, observer: &dyn RunObserver) -> Result<()> {
        for (number, round) in rounds.iter().enumerate() {
            observer.begins(round, number, rounds.len());
            match self.deployment.why_not(round.instances) {
                Some(why) => run.rounds.push(RoundResult::skipped(round, why)),
                None => {
                    let failed = || {
                        let (strategy, threat) = (&round.strategy.name, round.threat.name());
                        format!("round {} ({strategy}, {threat}) could not be played", number + 1)
                    };
                    let follow_up = self.attack(number, round).await.with_context(failed)?;
                    self.open.follow(round, follow_up, run).await.with_context(failed)?;
                }
            }
            run.as_designed = None;
            run.ended_early = Some(progress(run, rounds));
            observer.keeps(run)?;
        }
        Ok(())
    }

    async fn attack(&mut self, number: usize, round: &Round) -> Result<FollowUp> {
        let shop = self.deployment.running(round.instances)?;
        let sale = Sale {
            client: shop.client.clone(),
            reader: self.reader.clone(),
            strategy: round.strategy.clone(),
            item: format!("{}-{number}", self.run_id),
            load: round.load,
        };
        shop.heal().await?;
        sale.client.open_sale(&sale.item, sale.load.stock).await?;
        let is_control = round.threat.is_control();
        let attack = Attack {
            sale: sale.clone(),
            one_at_a_time: is_control,
            fault: fault(&shop, round).await,
        };
        let attacked = suitable(&mut self.crowd, &attack)
            .await?
            .attack(attack, shop.heal())
            .await?;
        let expected = Expectation {
            stock: sale.load.stock,
            quantity: i64::from(sale.load.quantity),
            contended: !is_control,
            // A proxy may send everything that one buyer sends to one instance.
            instances: if is_control { 1 } else { round.instances },
            fault: attacked.fault,
        };
        Ok(FollowUp {
            sale,
            expected,
            told: attacked.told,
            looks: attacked.looks,
            since: Instant::now(),
        })
    }
}

async fn fault(shop: &RunningShop, round: &Round) -> Option<Fault> {
    let (place, text) = round.threat.fault(&round.load)?;
    let deaths = shop.watch().await;
    Some(Fault { place, text, deaths })
}

/// The crowd that was here last, or another one where that does not suit.
async fn suitable<'a>(crowd: &'a mut Option<Crowd>, attack: &Attack) -> Result<&'a mut Crowd> {
    if crowd.as_ref().is_some_and(|crowd| !crowd.suits(attack))
        && let Some(other) = crowd.take()
    {
        other.dismiss().await?;
    }
    match crowd {
        Some(crowd) => Ok(crowd),
        None => Ok(crowd.insert(Crowd::gather(&attack.sale.client.at.host, attack.sale.load.buyers)?)),
    }
}
