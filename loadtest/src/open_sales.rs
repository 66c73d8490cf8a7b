//! The sales of the rounds that were played: they stay open until the end of the run, and are looked at once more then.

use std::collections::VecDeque;
use std::sync::Arc;

use anyhow::{Context, Result};
use futures_util::StreamExt;
use futures_util::stream;
use tokio::sync::Notify;
use tokio::task::JoinHandle;

use crate::audit::Verdict;
use crate::experiment::RunObserver;
use crate::follow_up::FollowUp;
use crate::plan::Round;
use crate::result::{RoundResult, RunResult};
use crate::sale::Sale;

/// The most sales that are kept open at a time. A shop may have to keep each of them in its stores.
const MOST_OPEN: usize = 1_000;

/// The most purchases that are kept in memory for them.
const MOST_KEPT: usize = 1_000_000;

/// How many sales are looked at and closed at the same time.
const AT_ONCE: usize = 8;

/// Rounds whose verdict is not final yet.
#[derive(Default)]
pub(crate) struct OpenSales {
    open: VecDeque<OpenSale>,
    kept: usize,
    /// The sale of the round that is being played.
    current: Option<Sale>,
}

struct OpenSale {
    /// Its place among the results.
    place: usize,
    round: Round,
    sale: Sale,
    state: State,
}

enum State {
    /// Buyers are told to wait, and do so while other rounds are played.
    Waiting(JoinHandle<Followed>),
    /// Nothing is left to be done but a last look.
    Over(Box<FollowUp>),
}

/// What was followed up, and whether its ledger could be read.
type Followed = (Box<FollowUp>, Result<()>);

impl OpenSales {
    /// How many there are.
    pub(crate) fn len(&self) -> usize {
        self.open.len()
    }

    /// A sale is about to be opened; it has to be closed even if its round is never followed up.
    pub(crate) fn opens(&mut self, sale: &Sale) {
        self.current = Some(sale.clone());
    }

    /// Follows an attack up, for as long as that takes or until its buyers are told to wait. Adds to `run` what the round
    /// showed so far; it becomes final with the last look.
    ///
    /// # Errors
    /// When the ledger cannot be read, what it showed cannot be kept, or an older sale cannot be closed to make room.
    pub(crate) async fn follow(
        &mut self,
        round: &Round,
        follow_up: FollowUp,
        run: &mut RunResult,
        observer: &dyn RunObserver,
    ) -> Result<()> {
        let (sale, waits) = (follow_up.sale.clone(), Arc::new(Notify::new()));
        let mut task = tokio::spawn(follow(Box::new(follow_up), waits.clone()));
        let (state, result, read) = tokio::select! {
            over = &mut task => {
                let (follow_up, read) = over.context("the follow-up ended badly")?;
                let result = RoundResult::played(round, &follow_up);
                (State::Over(follow_up), result, read)
            }
            () = waits.notified() => (State::Waiting(task), RoundResult::waiting(round), Ok(())),
        };
        self.kept += round.load.requests;
        self.open.push_back(OpenSale {
            place: run.rounds.len(),
            round: round.clone(),
            sale,
            state,
        });
        self.current = None;
        run.rounds.push(result);
        observer.keeps_round(run, run.rounds.len() - 1)?;
        while self.open.len() > 1 && (self.open.len() > MOST_OPEN || self.kept > MOST_KEPT) {
            self.close_oldest(run, observer).await?;
        }
        read
    }

    async fn close_oldest(&mut self, run: &mut RunResult, observer: &dyn RunObserver) -> Result<()> {
        let Some(oldest) = self.open.pop_front() else {
            return Ok(());
        };
        self.kept -= oldest.round.load.requests;
        let (place, result, closed) = oldest.close().await;
        run.rounds[place] = result;
        observer.keeps_round(run, place)?;
        closed
    }

    /// Waits for those that wait, looks at every ledger once more, and closes the sales.
    ///
    /// # Errors
    /// When a ledger cannot be read, what it showed cannot be kept, or a sale cannot be closed. The others are left alone
    /// then: each of them would take as long to fail.
    pub(crate) async fn close_all(mut self, run: &mut RunResult, observer: &dyn RunObserver) -> Result<()> {
        let current = self.current.take();
        let mut closing = stream::iter(self.open.into_iter().map(OpenSale::close)).buffer_unordered(AT_ONCE);
        while let Some((place, result, closed)) = closing.next().await {
            run.rounds[place] = result;
            observer.keeps_round(run, place)?;
            closed?;
        }
        match current {
            Some(sale) => close(sale).await,
            None => Ok(()),
        }
    }

    /// Closes the sales and looks at nothing any more.
    ///
    /// # Errors
    /// When one cannot be closed; the others are left alone then.
    pub(crate) async fn abandon(self) -> Result<()> {
        let sales = self.open.into_iter().map(|open| open.sale).chain(self.current);
        let mut closing = stream::iter(sales.map(close)).buffer_unordered(AT_ONCE);
        while let Some(closed) = closing.next().await {
            closed?;
        }
        Ok(())
    }
}

async fn follow(mut follow_up: Box<FollowUp>, waits: Arc<Notify>) -> Followed {
    let read = follow_up.run(&waits).await;
    (follow_up, read)
}

async fn close(sale: Sale) -> Result<()> {
    let closed = sale.client.close_sale(&sale.item).await;
    closed.with_context(|| format!("the sale {} could not be closed", sale.item))
}

impl OpenSale {
    /// The place of the round, its final result, and whether its ledger could be read and its sale closed.
    async fn close(self) -> (usize, RoundResult, Result<()>) {
        let followed = match self.state {
            State::Waiting(task) => task.await,
            State::Over(follow_up) => Ok((follow_up, Ok(()))),
        };
        let mut follow_up = match followed {
            Ok((follow_up, _)) => follow_up,
            Err(error) => {
                let result = RoundResult::waiting(&self.round);
                return (self.place, result, Err(error).context("the follow-up ended badly"));
            }
        };
        let looked = follow_up.look_again().await;
        let mut result = RoundResult::played(&self.round, &follow_up);
        if let Err(error) = &looked
            && result.verdict == Verdict::Holds
        {
            result.verdict = Verdict::Inconclusive;
            result.as_designed = false;
            result.inconclusive = Some(format!("at the end of the run {error:#}"));
        }
        (self.place, result, looked.and(close(self.sale).await))
    }
}
