//! Plays the plan: for each round a fresh sale, the attack with its fault, what follows it, the verdict. What a round
//! showed is kept before the next one begins; at the end of the run all ledgers are looked at once more.

use std::sync::Arc;
use std::time::Instant;

use anyhow::{Context, Result, anyhow};
use tokio::sync::SetOnce;

use crate::attack::{Attack, Crowd};
use crate::audit::Expectation;
use crate::cell;
use crate::deployment::Deployment;
use crate::facts::LedgerReader;
use crate::follow_up::{FollowUp, MarketFollowUp};
use crate::market::Market;
use crate::open_sales::OpenSales;
use crate::plan::Round;
use crate::result::{RoundResult, RunResult};
use crate::trace::Shown;

/// Who is told of each round: to show progress, and to keep what it showed.
pub trait RunObserver: Send + Sync {
    /// A round begins; `done` of `all` are over.
    fn begins(&self, round: &Round, done: usize, all: usize);

    /// All rounds were played, and `sales` ledgers are looked at once more.
    fn looks_again(&self, sales: usize);

    /// The round at `place` in `run` is over, or was looked at once more: what was kept of it before is replaced.
    ///
    /// # Errors
    /// When it cannot be kept: the run ends, rather than measure for nothing.
    fn keeps_round(&self, run: &RunResult, place: usize) -> Result<()>;

    /// The run is over, and nothing in it changes any more.
    ///
    /// # Errors
    /// When it cannot be kept.
    fn keeps_run(&self, run: &RunResult) -> Result<()>;
}

/// A plan, and what it takes to play it.
pub struct Experiment<'a> {
    /// Whose shop is on trial.
    pub deployment: &'a mut Deployment,
    /// Who reads the stores.
    pub reader: &'a Arc<LedgerReader>,
    /// What is played.
    pub rounds: &'a [Round],
    /// Items are named after it, so that no two runs on one pair of stores meet.
    pub run_id: &'a str,
    /// Who is told.
    pub observer: &'a dyn RunObserver,
    /// Set when the run shall end at once.
    pub stop: &'a SetOnce<()>,
}

impl<'a> Experiment<'a> {
    /// Plays all rounds into `run`, and closes every sale that it opened.
    ///
    /// # Errors
    /// When a part of the experiment fails, or the run is stopped; what the shop does wrong is a finding, not an error.
    /// `run` then says that it ended early, and why.
    pub async fn play(self, run: &mut RunResult) -> Result<()> {
        let (observer, stop, all) = (self.observer, self.stop, self.rounds.len());
        let mut session = Session {
            experiment: self,
            crowd: None,
            open: OpenSales::default(),
            sales: 0,
        };
        let played = tokio::select! {
            played = session.rounds(run) => played,
            _ = stop.wait() => Err(anyhow!("it was interrupted")),
        };
        let closed = if stop.initialized() {
            session.open.abandon().await
        } else {
            observer.looks_again(session.open.len());
            session.open.close_all(run, observer).await
        };
        let dismissed = match session.crowd {
            Some(crowd) if played.is_ok() => crowd.dismiss().await,
            Some(_) | None => Ok(()),
        };
        let ended = played.and(closed).and(dismissed);
        run.ended_early = ended
            .as_ref()
            .err()
            .map(|error| format!("{}: {error:#}", progress(run, all)));
        run.as_designed = cell::claim_check(run).as_designed();
        // A run of which nothing was played leaves nothing behind.
        if !run.rounds.is_empty() {
            observer.keeps_run(run)?;
        }
        ended
    }
}

fn progress(run: &RunResult, all: usize) -> String {
    format!("after {} of {all} rounds", run.rounds.len())
}

/// An experiment while it is played.
struct Session<'a> {
    experiment: Experiment<'a>,
    crowd: Option<Crowd>,
    open: OpenSales,
    /// Sales opened so far.
    sales: usize,
}

impl Session<'_> {
    /// A name that was never used. No shop can read from it whether its round is played for the first time.
    fn next_item(&mut self) -> String {
        let number = self.sales;
        self.sales += 1;
        format!("{}-{number}", self.experiment.run_id)
    }

    async fn rounds(&mut self, run: &mut RunResult) -> Result<()> {
        let (rounds, observer) = (self.experiment.rounds, self.experiment.observer);
        for (number, round) in rounds.iter().enumerate() {
            observer.begins(round, number, rounds.len());
            let needs = round.threat.needs(&round.strategy);
            let missing = round.strategy.missing.clone();
            let deployment = &self.experiment.deployment;
            let why_not = missing
                .or_else(|| deployment.why_not(round.instances, &needs))
                .or_else(|| deployment.unread(round.strategy.store));
            match why_not {
                Some(why) => {
                    run.rounds.push(RoundResult::skipped(round, why));
                    observer.keeps_round(run, number)?;
                }
                None => {
                    let failed = || {
                        let (strategy, threat) = (&round.strategy.name, round.threat.name());
                        format!("round {} ({strategy}, {threat}) could not be played", number + 1)
                    };
                    self.round(round, run).await.with_context(failed)?;
                }
            }
        }
        Ok(())
    }

    /// Plays a round, and once more if it was no test by chance alone.
    async fn round(&mut self, round: &Round, run: &mut RunResult) -> Result<()> {
        let observer = self.experiment.observer;
        self.open.make_room(round, 0, run, observer).await?;
        let first = self.attack(round).await?;
        if self.open.follow(round, first, run, observer).await? {
            self.open.make_room(round, 1, run, observer).await?;
            let second = self.attack(round).await?;
            self.open.follow_again(round, second, run, observer).await?;
        }
        Ok(())
    }

    async fn attack(&mut self, round: &Round) -> Result<MarketFollowUp> {
        let shop = self
            .experiment
            .deployment
            .running(round.instances, &round.threat.needs(&round.strategy))?;
        let names = (0..round.load.items).map(|_| self.next_item()).collect();
        let (reader, load) = (self.experiment.reader, round.load);
        let market = Market::new(shop.client.clone(), reader, &round.strategy, names, load);
        shop.heal().await?;
        self.open.opens(&market.sales);
        market.open().await?;
        let mut trace = match market.sales.first().filter(|_| round.is_traced()) {
            Some(first) => shop.trace(&first.item).await,
            None => None,
        };
        let is_control = round.threat.is_control();
        let attack = Attack {
            sale: market.clone(),
            publics: shop.publics(),
            one_at_a_time: is_control,
            deed: round.threat.deed(),
        };
        let attacked = suitable(&mut self.crowd, &attack).await?.attack(attack, &shop).await?;
        let expected = Expectation {
            stock: load.stock,
            quantity: i64::from(load.quantity),
            contended: !is_control,
            // A proxy may send everything that one buyer sends to one instance.
            instances: if is_control { 1 } else { round.instances },
            fault: attacked.fault,
        };
        let said_and_seen = market.split(attacked.told, attacked.looks);
        let mut pending = Vec::new();
        if round.strategy.store.is_two_stores() {
            let names: Vec<&str> = market.sales.iter().map(|sale| sale.item.as_str()).collect();
            pending = shop.pending(&names).await;
        }
        let mut pending = pending.into_iter();
        let items = market.sales.into_iter().zip(said_and_seen);
        let items = items.map(|(sale, (told, looks))| FollowUp {
            pending: pending.next(),
            reconciled: None,
            sale,
            expected: expected.clone(),
            told,
            looks,
            trace: trace.take(),
            shown: Shown::default(),
            since: Instant::now(),
        });
        Ok(MarketFollowUp { items: items.collect() })
    }
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
