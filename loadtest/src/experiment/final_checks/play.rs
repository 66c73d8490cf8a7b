//! One play of a round: its open sales, and the state of its follow-up.

use std::sync::Arc;

use anyhow::{Context, Error, Result};
use tokio::sync::Notify;
use tokio::task::JoinHandle;

use crate::audit::Verdict;
use crate::follow_up::{FollowUp, SaleSetFollowUp};
use crate::plan::Round;
use crate::result::RoundResult;
use crate::sale::Sale;
use crate::trace::RawTrace;

pub(super) struct Play {
    pub(super) sales: Vec<Sale>,
    state: State,
}

enum State {
    /// The follow-up goes on while other rounds are played: its buyers are told busy.
    Waiting(JoinHandle<Followed>),
    /// The follow-up is over. The recheck and the last reading are still to come.
    Over(Box<SaleSetFollowUp>),
    /// The follow-up failed.
    Broken(Error),
}

/// The follow-up, and whether its ledgers could be read.
type Followed = (Box<SaleSetFollowUp>, Result<()>);

impl Play {
    /// Follows an attack up until that is over, or until its buyers are told busy for long. Returns the result so far,
    /// and whether its ledgers could be read.
    pub(super) async fn follow_up(
        round: &Round,
        follow_up: SaleSetFollowUp,
    ) -> Result<(Self, RoundResult, Result<()>)> {
        let sales = follow_up.items.iter().map(|item| item.sale.clone()).collect();
        let waits = Arc::new(Notify::new());
        let mut task = tokio::spawn(run(Box::new(follow_up), waits.clone()));
        let (state, result, read) = tokio::select! {
            over = &mut task => {
                let (follow_up, read) = over.context("the follow-up failed")?;
                let result = RoundResult::played(round, &follow_up);
                (State::Over(follow_up), result, read)
            }
            () = waits.notified() => (State::Waiting(task), RoundResult::waiting(round), Ok(())),
        };
        Ok((Self { sales, state }, result, read))
    }

    /// Returns whether there is no finding, and chance alone made the play no test.
    pub(super) fn is_no_test_by_chance(&self) -> bool {
        match &self.state {
            State::Waiting(_) | State::Broken(_) => false,
            State::Over(follow_up) => follow_up.judge().is_chance,
        }
    }

    /// Waits for the end of the follow-up.
    pub(super) async fn end(&mut self) {
        if let State::Waiting(task) = &mut self.state {
            self.state = match task.await.context("the follow-up failed") {
                Ok((follow_up, _)) => State::Over(follow_up),
                Err(error) => State::Broken(error),
            };
        }
    }

    /// Waits for the end of the follow-up, and buys once more.
    pub(super) async fn recheck(&mut self) {
        self.end().await;
        if let State::Over(follow_up) = &mut self.state {
            follow_up.recheck().await;
        }
    }

    /// Takes out the traces of a violation that were not kept yet.
    pub(super) fn take_traces(&mut self) -> Vec<RawTrace> {
        let items = self.items().iter_mut();
        items.flat_map(|item| std::mem::take(&mut item.raw_traces)).collect()
    }

    /// Returns the items whose follow-up is over.
    pub(super) fn items(&mut self) -> &mut [FollowUp] {
        match &mut self.state {
            State::Over(follow_up) => &mut follow_up.items,
            State::Waiting(_) | State::Broken(_) => &mut [],
        }
    }

    /// Reads the ledgers for the last time. Returns the final result, whether chance alone made it no test, and whether
    /// the ledgers could be read.
    pub(super) async fn observe_last(self, round: &Round) -> (RoundResult, bool, Result<()>) {
        let mut follow_up = match self.state {
            State::Over(follow_up) => follow_up,
            State::Waiting(_) => return (RoundResult::waiting(round), false, Ok(())),
            State::Broken(error) => return (RoundResult::waiting(round), false, Err(error)),
        };
        let read = follow_up.observe_last().await;
        let mut result = RoundResult::played(round, &follow_up);
        let is_chance = read.is_ok() && result.inconclusive.is_some() && follow_up.judge().is_chance;
        if let Err(error) = &read
            && result.verdict == Verdict::Holds
        {
            result.verdict = Verdict::Inconclusive;
            result.as_designed = false;
            result.inconclusive = Some(format!("at the end of the run: {error:#}"));
        }
        (result, is_chance, read)
    }
}

async fn run(mut follow_up: Box<SaleSetFollowUp>, waits: Arc<Notify>) -> Followed {
    let read = follow_up.run(&waits).await;
    (follow_up, read)
}
