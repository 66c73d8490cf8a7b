//! Plays the plan. Rounds that are measured are played one after the other, with nobody beside them; those that mostly
//! wait, and those of a soak, are played side by side, each in a world of its own. What a round showed is kept before its
//! world plays another one; at the end of the run all ledgers are looked at once more.

mod final_checks;
mod record;
mod session;

use std::sync::atomic::AtomicUsize;
use std::sync::{Arc, Mutex};

use anyhow::{Context, Result, anyhow};
use futures_util::future::{BoxFuture, join_all, try_join_all};
use tokio::sync::SetOnce;

use self::record::Record;
use self::session::Session;
use crate::deployment::Deployment;
use crate::facts::LedgerReader;
use crate::plan::Round;
use crate::result::cell;
use crate::result::{RoundResult, RunResult};
use crate::workers::Coordinator;

/// How many rounds that are not measured are played at the same time, at most: more of them would wait for processors as
/// well.
const SIDE_BY_SIDE: usize = 6;

/// Who is told of each round: to show progress, and to keep what it showed.
pub trait RunObserver: Send + Sync {
    /// A round begins; `done` of `all` are over, or need not be played any more.
    fn begins(&self, round: &Round, done: usize, all: usize);

    /// All rounds were played, and `sales` ledgers are looked at once more.
    fn looks_again(&self, sales: usize);

    /// The round at `place` of the plan is over, or was looked at once more: what was kept of it before is replaced. `run`
    /// is all of the run but its rounds.
    ///
    /// # Errors
    /// When it cannot be kept: the run ends, rather than measure for nothing.
    fn keeps_round(&self, run: &RunResult, place: usize, round: &RoundResult) -> Result<()>;

    /// The run is over, and nothing in it changes any more.
    ///
    /// # Errors
    /// When it cannot be kept.
    fn keeps_run(&self, run: &RunResult) -> Result<()>;
}

/// A shop on trial and who reads its stores: one round at a time is played there.
pub struct Testbed {
    /// Whose shop is on trial.
    pub deployment: Deployment,
    /// Who reads the stores.
    pub reader: Arc<LedgerReader>,
}

impl Testbed {
    /// The world of that shop.
    ///
    /// # Errors
    /// When one of its stores cannot be reached.
    pub async fn of(deployment: Deployment) -> Result<Self> {
        let reader = Arc::new(LedgerReader::connect(&deployment.urls()).await?);
        Ok(Self { deployment, reader })
    }
}

/// Makes another world like the first one, with stores of its own.
pub type MakeTestbed = dyn Fn() -> BoxFuture<'static, Result<Testbed>> + Send + Sync;

/// A plan, and what it takes to play it.
pub struct Experiment<'a> {
    /// Where every round can be played.
    pub testbed: Testbed,
    /// Makes further ones; without it everything is played in the first.
    pub more: Option<&'a MakeTestbed>,
    /// What is played.
    pub rounds: &'a [Round],
    /// Items are named after it, so that no two runs on one pair of stores meet.
    pub run_id: &'a str,
    /// Who sends the load of every round that can be shared, where this run does not do so itself.
    pub coordinator: Option<&'a Coordinator>,
    /// Who is told.
    pub observer: &'a dyn RunObserver,
    /// Set when the run shall end at once.
    pub stop: &'a SetOnce<()>,
}

impl Experiment<'_> {
    /// Plays all rounds into `run`, and closes every sale that it opened.
    ///
    /// # Errors
    /// When a part of the experiment fails, or the run is stopped; what the shop does wrong is a finding, not an error.
    /// `run` then says that it ended early, and why.
    pub async fn play(self, run: &mut RunResult) -> Result<()> {
        let Self {
            testbed,
            more,
            rounds,
            run_id,
            coordinator,
            observer,
            stop,
        } = self;
        let all = rounds.len();
        let plan = Plan {
            rounds,
            run_id,
            coordinator,
            sales: AtomicUsize::new(0),
            record: Record::new(run.clone(), all, observer),
        };
        let mut sessions = vec![Session::of(testbed, &plan)];
        let played = tokio::select! {
            played = plan.play(&mut sessions, more) => played,
            _ = stop.wait() => Err(anyhow!("it was interrupted")),
        };
        let is_stopped = stop.initialized();
        if !is_stopped {
            observer.looks_again(sessions.iter().map(Session::final_checks_pending).sum());
        }
        let may_dismiss = played.is_ok();
        let closing = sessions
            .into_iter()
            .map(|session| session.close(is_stopped, may_dismiss));
        let closed: Result<()> = join_all(closing).await.into_iter().collect();
        run.rounds = plan.record.into_rounds();
        let ended = played.and(closed);
        let progress = format!("after {} of {all} rounds", run.rounds.len());
        run.ended_early = ended.as_ref().err().map(|error| format!("{progress}: {error:#}"));
        run.as_designed = cell::claim_check(run).as_designed();
        // A run of which nothing was played leaves nothing behind.
        if !run.rounds.is_empty() {
            observer.keeps_run(run)?;
        }
        ended
    }
}

/// What all worlds share while the plan is played.
struct Plan<'a> {
    rounds: &'a [Round],
    run_id: &'a str,
    coordinator: Option<&'a Coordinator>,
    /// Sales opened so far.
    sales: AtomicUsize,
    record: Record<'a>,
}

/// Rounds that nobody plays yet, with their places in the plan.
type Queue<'a> = Mutex<Box<dyn Iterator<Item = (usize, &'a Round)> + Send + 'a>>;

impl<'a> Plan<'a> {
    async fn play<'b>(&'b self, sessions: &mut Vec<Session<'b>>, more: Option<&MakeTestbed>) -> Result<()> {
        let measured = self.queue(true);
        for session in sessions.iter_mut() {
            session.play(&measured).await?;
        }
        let others = self.rounds.iter().filter(|round| !round.is_measured()).count();
        if let Some(another) = more {
            let missing = others.min(SIDE_BY_SIDE).saturating_sub(sessions.len());
            let testbeds = try_join_all((0..missing).map(|_| another())).await;
            let testbeds = testbeds.context("another world, to play rounds side by side, could not be started")?;
            sessions.extend(testbeds.into_iter().map(|testbed| Session::of(testbed, self)));
        }
        let others = self.queue(false);
        try_join_all(sessions.iter_mut().map(|session| session.play(&others))).await?;
        Ok(())
    }

    /// The rounds that are measured, or those that are not, in the order of the plan.
    fn queue(&self, measured: bool) -> Queue<'a> {
        let rounds = self.rounds.iter().enumerate();
        Mutex::new(Box::new(
            rounds.filter(move |(_, round)| round.is_measured() == measured),
        ))
    }
}
