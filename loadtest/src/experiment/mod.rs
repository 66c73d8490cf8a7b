//! Plays the plan. Measured rounds are played one after the other, with no other round beside them. Rounds that mostly
//! wait and rounds of a soak are played side by side, each in a testbed of its own. The result of a round is kept
//! before its testbed plays the next one. At the end of the run all ledgers are read once more.

mod final_checks;
mod longest;
mod queue;
mod record;
mod session;
mod standing;
mod watch;

pub use self::longest::{in_words, longest};
pub use self::standing::Standing;
pub use self::watch::{Ledgers, WatchedRound};

use std::num::NonZero;
use std::sync::Arc;
use std::sync::atomic::AtomicUsize;
use std::thread::available_parallelism;
use std::time::{Duration, Instant};

use anyhow::{Context, Error, Result, anyhow};
use futures_util::future::{BoxFuture, join_all, try_join_all};
use tokio::sync::SetOnce;
use tokio::time::sleep_until;

use self::queue::{Queue, needs_lock_service};
use self::record::Record;
use self::session::Session;
use crate::deployment::Deployment;
use crate::facts::LedgerReader;
use crate::plan::Round;
use crate::result::cell;
use crate::result::{RoundResult, RunResult};
use crate::sale::Names;
use crate::sale::sale_set::CLOSED_WITHIN;
use crate::trace::RawTrace;
use crate::workers::Coordinator;

/// How many rounds are played side by side for each processor. With more of them a fault may last longer than the purchase that it is
/// to strike, and the round decides nothing.
const FOR_EACH_PROCESSOR: usize = 2;

/// The most rounds that are played side by side.
const SIDE_BY_SIDE: usize = 8;

/// The most testbeds with lock services of several nodes, where other rounds are played, too: such services keep the
/// processors busy while nobody uses them.
const WITH_LOCK_SERVICES: usize = 2;

/// An observer of each round, which shows progress and keeps results.
pub trait RunObserver: Send + Sync {
    /// Reports that a round begins, and how far the run is.
    fn begins(&self, round: &Round, standing: Standing);

    /// Reports that the sales of a round are open, before its buyers come. It may be watched from now on.
    fn opens(&self, _open: WatchedRound) {}

    /// Reports that all rounds were played, and that `sales` ledgers are read once more.
    fn begins_final_checks(&self, sales: usize);

    /// Reports the items of sales that could not be closed, each with the reason. They stay open at the shop.
    fn leaves_open(&self, sales: &[(String, Error)]);

    /// Keeps the result of the round at `place` of the plan, and replaces an earlier result of it. `run` is the run
    /// without its rounds.
    ///
    /// # Errors
    /// When it cannot be kept. The run ends then, because further results would be lost too.
    fn keeps_round(&self, run: &RunResult, place: usize, round: &RoundResult) -> Result<()>;

    /// Keeps the traces of a violation in the round at `place` of the plan, as far as there is room: no verdict depends on them.
    fn keeps_traces(&self, _place: usize, _traces: &[RawTrace]) {}

    /// Keeps the run, which does not change any more.
    ///
    /// # Errors
    /// When it cannot be kept.
    fn keeps_run(&self, run: &RunResult) -> Result<()>;
}

/// A shop on trial and the reader of its stores. One round at a time is played there.
pub struct Testbed {
    /// The shop on trial.
    pub deployment: Deployment,
    /// The reader of its stores.
    pub reader: Arc<LedgerReader>,
    /// Its lock services.
    pub lock_services: LockServices,
}

/// The lock services of several nodes that a testbed has.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum LockServices {
    /// Each one that the plan needs, as far as it can be started.
    All,
    /// None: it plays the rounds that need none.
    None,
}

impl Testbed {
    /// Creates the testbed of a shop.
    ///
    /// # Errors
    /// When one of its stores cannot be reached.
    pub async fn of(deployment: Deployment, lock_services: LockServices) -> Result<Self> {
        let reader = Arc::new(LedgerReader::connect(&deployment.urls()).await?);
        Ok(Self {
            deployment,
            reader,
            lock_services,
        })
    }
}

/// Makes another testbed like the first one, with stores and these lock services of its own.
pub type MakeTestbed = dyn Fn(LockServices) -> BoxFuture<'static, Result<Testbed>> + Send + Sync;

/// A plan, with everything that is needed to play it.
pub struct Experiment<'a> {
    /// The testbed in which every round can be played.
    pub testbed: Testbed,
    /// Makes further testbeds; without it everything is played in the first one.
    pub more: Option<&'a MakeTestbed>,
    /// The rounds.
    pub rounds: &'a [Round],
    /// The names of the run. Two runs on the same stores never meet.
    pub names: Names,
    /// The coordinator of workers, which send the load of each round that can be shared.
    pub coordinator: Option<&'a Coordinator>,
    /// The observer of the rounds.
    pub observer: &'a dyn RunObserver,
    /// The longest time of the run, as [`longest`] returns it for its rounds.
    pub within: Duration,
    /// Set when the run has to end at once.
    pub stop: &'a SetOnce<()>,
}

impl Experiment<'_> {
    /// Plays all rounds into `run`, and closes every sale that it opened.
    ///
    /// # Errors
    /// When a part of the experiment fails, or the run is stopped or takes too long. `run` then says that it ended early,
    /// and why. A fault of the shop is a finding, not an error.
    pub async fn play(self, run: &mut RunResult) -> Result<()> {
        let Self {
            testbed,
            more,
            rounds,
            names,
            coordinator,
            observer,
            within,
            stop,
        } = self;
        let all = rounds.len();
        let until = Instant::now() + within.saturating_sub(CLOSED_WITHIN);
        let plan = Plan {
            rounds,
            names,
            coordinator,
            more,
            sales: AtomicUsize::new(0),
            record: Record::new(run.clone(), rounds, more.map_or(1, |_| side_by_side()), observer),
        };
        let mut sessions = vec![Session::of(testbed, &plan)];
        let is_over = async || {
            tokio::select! {
                _ = stop.wait() => anyhow!("it was interrupted"),
                () = sleep_until(until.into()) => {
                    anyhow!("it took longer than {}, the most that its plan allows", in_words(within))
                }
            }
        };
        let played = tokio::select! {
            played = plan.play(&mut sessions) => played,
            over = is_over() => Err(over),
        };
        let checked = if stop.initialized() || Instant::now() >= until {
            Ok(())
        } else {
            observer.begins_final_checks(sessions.iter().map(Session::final_checks_pending).sum());
            tokio::select! {
                checks = join_all(sessions.iter_mut().map(Session::check)) => checks.into_iter().collect(),
                over = is_over() => Err(over),
            }
        };
        let may_dismiss = played.is_ok();
        let closing = sessions.into_iter().map(|session| session.close(may_dismiss));
        let closed: Result<()> = join_all(closing).await.into_iter().collect();
        run.rounds = plan.record.into_rounds();
        let ended = played.and(checked).and(closed);
        let progress = format!("after {} of {all} rounds", run.rounds.len());
        run.ended_early = ended.as_ref().err().map(|error| format!("{progress}: {error:#}"));
        run.as_designed = cell::claim_check(run).as_designed();
        // A run without a single round leaves nothing behind.
        if !run.rounds.is_empty() {
            observer.keeps_run(run)?;
        }
        ended
    }
}

/// The state that all testbeds share while the plan is played.
struct Plan<'a> {
    rounds: &'a [Round],
    names: Names,
    coordinator: Option<&'a Coordinator>,
    more: Option<&'a MakeTestbed>,
    sales: AtomicUsize,
    record: Record<'a>,
}

impl<'a> Plan<'a> {
    async fn play<'b>(&'b self, sessions: &mut Vec<Session<'b>>) -> Result<()> {
        let measured = self.queue(Round::is_measured);
        for session in sessions.iter_mut() {
            session.play(|_| measured.next()).await?;
        }
        if let Some(another) = self.more {
            let testbeds = try_join_all(self.further(sessions.len()).into_iter().map(another)).await;
            let testbeds = testbeds.context("another testbed, to play rounds side by side, could not be started")?;
            sessions.extend(testbeds.into_iter().map(|testbed| Session::of(testbed, self)));
        }
        let once = self.queue(|round| !round.is_measured() && !round.until_broken);
        try_join_all(
            sessions
                .iter_mut()
                .map(|session| session.play(|services| once.next_for(services))),
        )
        .await?;
        let until_broken = self.queue(|round| !round.is_measured() && round.until_broken);
        if !until_broken.is_empty() {
            // Only the last reading shows some failures, such as units that nobody can buy any more.
            try_join_all(sessions.iter_mut().map(Session::check)).await?;
        }
        let play = |services| until_broken.next_for(services);
        try_join_all(sessions.iter_mut().map(|session| session.play(play))).await?;
        Ok(())
    }

    /// Returns the rounds of one kind, in the order of the plan.
    fn queue(&self, is_kind: impl Fn(&Round) -> bool) -> Queue<'a> {
        let rounds = self.rounds.iter().enumerate();
        Queue::of(rounds.filter(|(_, round)| is_kind(round)))
    }

    /// Returns the lock services of each further testbed, where there are so many already.
    fn further(&self, already: usize) -> Vec<LockServices> {
        let others = || self.rounds.iter().filter(|round| !round.is_measured());
        let (all, needing) = (
            others().count(),
            others().filter(|round| needs_lock_service(round)).count(),
        );
        let most = side_by_side();
        let with_services = if needing * 2 > all { most } else { WITH_LOCK_SERVICES };
        let services = |nth| {
            if nth < with_services {
                LockServices::All
            } else {
                LockServices::None
            }
        };
        (already..all.min(most)).map(services).collect()
    }
}

/// Returns how many rounds may be played side by side.
fn side_by_side() -> usize {
    let processors = available_parallelism().map_or(1, NonZero::get);
    (processors * FOR_EACH_PROCESSOR).min(SIDE_BY_SIDE)
}
