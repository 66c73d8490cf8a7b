//! One play of a round: its sales, which stay open, and what is still to come of them.

use std::sync::Arc;

use anyhow::{Context, Error, Result};
use tokio::sync::Notify;
use tokio::task::JoinHandle;

use crate::audit::Verdict;
use crate::follow_up::SaleSetFollowUp;
use crate::plan::Round;
use crate::result::RoundResult;
use crate::sale::Sale;
use crate::sale::sale_set;

pub(super) struct Play {
    pub(super) sales: Vec<Sale>,
    state: State,
}

enum State {
    /// Buyers are told to wait, and do so while other rounds are played.
    Waiting(JoinHandle<Followed>),
    /// Nothing is left to be done but to come again, and a last look.
    Over(Box<SaleSetFollowUp>),
    /// Those who waited were never answered.
    Broken(Error),
}

/// What was followed up, and whether its ledger could be read.
type Followed = (Box<SaleSetFollowUp>, Result<()>);

impl Play {
    /// Follows an attack up, for as long as that takes or until its buyers are told to wait. What the play showed so far,
    /// and whether its ledgers could be read.
    ///
    /// # Errors
    /// When the follow-up ends badly.
    pub(super) async fn follow(round: &Round, follow_up: SaleSetFollowUp) -> Result<(Self, RoundResult, Result<()>)> {
        let sales = follow_up.items.iter().map(|item| item.sale.clone()).collect();
        let waits = Arc::new(Notify::new());
        let mut task = tokio::spawn(follow(Box::new(follow_up), waits.clone()));
        let (state, result, read) = tokio::select! {
            over = &mut task => {
                let (follow_up, read) = over.context("the follow-up ended badly")?;
                let result = RoundResult::played(round, &follow_up);
                (State::Over(follow_up), result, read)
            }
            () = waits.notified() => (State::Waiting(task), RoundResult::waiting(round), Ok(())),
        };
        Ok((Self { sales, state }, result, read))
    }

    /// Whether nothing was wrong, and nothing that the shop did is a reason why that proves nothing.
    pub(super) fn is_no_test_by_chance(&self) -> bool {
        match &self.state {
            State::Waiting(_) | State::Broken(_) => false,
            State::Over(follow_up) => follow_up.judge().is_chance,
        }
    }

    /// Waits for those who wait, and buys once more.
    pub(super) async fn recheck(&mut self) {
        if let State::Waiting(task) = &mut self.state {
            self.state = match task.await.context("the follow-up ended badly") {
                Ok((follow_up, _)) => State::Over(follow_up),
                Err(error) => State::Broken(error),
            };
        }
        if let State::Over(follow_up) = &mut self.state {
            follow_up.recheck().await;
        }
    }

    /// Looks for the last time and closes the sales: the final result, whether it is no test by chance alone, and whether
    /// the ledgers could be read and the sales closed.
    pub(super) async fn close(self, round: &Round) -> (RoundResult, bool, Result<()>) {
        let mut follow_up = match self.state {
            State::Over(follow_up) => follow_up,
            State::Waiting(_) => return (RoundResult::waiting(round), false, Ok(())),
            State::Broken(error) => return (RoundResult::waiting(round), false, Err(error)),
        };
        let looked = follow_up.look_again().await;
        let mut result = RoundResult::played(round, &follow_up);
        let is_chance = looked.is_ok() && result.inconclusive.is_some() && follow_up.judge().is_chance;
        if let Err(error) = &looked
            && result.verdict == Verdict::Holds
        {
            result.verdict = Verdict::Inconclusive;
            result.as_designed = false;
            result.inconclusive = Some(format!("at the end of the run {error:#}"));
        }
        (result, is_chance, looked.and(sale_set::close(self.sales).await))
    }
}

async fn follow(mut follow_up: Box<SaleSetFollowUp>, waits: Arc<Notify>) -> Followed {
    let read = follow_up.run(&waits).await;
    (follow_up, read)
}
