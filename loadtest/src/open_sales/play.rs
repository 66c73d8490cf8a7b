//! One play of a round: its sales, which stay open, and what is still to come of them.

use std::sync::Arc;

use anyhow::{Context, Result};
use tokio::sync::Notify;
use tokio::task::JoinHandle;

use crate::audit::Verdict;
use crate::follow_up::MarketFollowUp;
use crate::market;
use crate::plan::Round;
use crate::result::RoundResult;
use crate::sale::Sale;

pub(super) struct Play {
    pub(super) sales: Vec<Sale>,
    state: State,
}

enum State {
    /// Buyers are told to wait, and do so while other rounds are played.
    Waiting(JoinHandle<Followed>),
    /// Nothing is left to be done but a last look.
    Over(Box<MarketFollowUp>),
}

/// What was followed up, and whether its ledger could be read.
type Followed = (Box<MarketFollowUp>, Result<()>);

impl Play {
    /// Follows an attack up, for as long as that takes or until its buyers are told to wait. What the play showed so far,
    /// and whether its ledgers could be read.
    ///
    /// # Errors
    /// When the follow-up ends badly.
    pub(super) async fn follow(round: &Round, follow_up: MarketFollowUp) -> Result<(Self, RoundResult, Result<()>)> {
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
            State::Waiting(_) => false,
            State::Over(follow_up) => follow_up.judge().is_chance,
        }
    }

    /// Looks once more and closes the sales: the final result, whether it is no test by chance alone, and whether the
    /// ledgers could be read and the sales closed.
    pub(super) async fn close(self, round: &Round) -> (RoundResult, bool, Result<()>) {
        let followed = match self.state {
            State::Waiting(task) => task.await,
            State::Over(follow_up) => Ok((follow_up, Ok(()))),
        };
        let mut follow_up = match followed {
            Ok((follow_up, _)) => follow_up,
            Err(error) => {
                let error = Err(error).context("the follow-up ended badly");
                return (RoundResult::waiting(round), false, error);
            }
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
        (result, is_chance, looked.and(market::close(self.sales).await))
    }
}

async fn follow(mut follow_up: Box<MarketFollowUp>, waits: Arc<Notify>) -> Followed {
    let read = follow_up.run(&waits).await;
    (follow_up, read)
}
