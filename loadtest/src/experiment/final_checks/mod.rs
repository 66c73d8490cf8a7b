//! Final checks of all rounds: the sales stay open until the end of the run, and their ledgers are read once more then.
//! Sales are closed when the verdicts are kept: a shop that cannot close one does not change a verdict.

mod play;

use std::collections::{HashSet, VecDeque};
use std::time::Instant;

use anyhow::Result;
use futures_util::StreamExt;
use futures_util::stream;

use self::play::Play;
use super::Record;
use crate::audit::Verdict;
use crate::deployment::Deployment;
use crate::follow_up::SaleSetFollowUp;
use crate::plan::Round;
use crate::result::RoundResult;
use crate::sale::Load;
use crate::sale::Sale;
use crate::sale::sale_set::{self, AT_ONCE};

/// The most sales that are kept open at a time, besides a round that is played for the second time. A shop may have to
/// keep each of them in its stores.
const MOST_OPEN: usize = 1_000;

/// The most purchases of these sales that are kept in memory.
const MOST_KEPT: usize = 1_000_000;

/// The open sales of all rounds whose verdict is not final yet.
#[derive(Default)]
pub(crate) struct OpenSales {
    open: VecDeque<OpenRound>,
    kept: usize,
    /// Every sale that was opened and is not closed yet.
    opened: Vec<Sale>,
}

struct OpenRound {
    place: usize,
    round: Round,
    /// The plays of the round, mostly one.
    plays: Vec<Play>,
    /// The reason why the first play was no test, unless a second play followed.
    inconclusive: Option<String>,
    /// The reasons why the plays before the last one were no test.
    before: Vec<String>,
}

impl OpenSales {
    /// Returns how many sales are open.
    pub(crate) fn len(&self) -> usize {
        self.open.iter().flat_map(OpenRound::sales).count()
    }

    /// Closes the oldest rounds until there is room for the sales of `round`. The `stay` newest rounds stay open.
    ///
    /// # Errors
    /// When a shop cannot be healed, a ledger cannot be read, or a result cannot be kept.
    pub(crate) async fn make_room(
        &mut self,
        round: &Round,
        stay: usize,
        deployment: &Deployment,
        record: &Record<'_>,
    ) -> Result<()> {
        let Load { items, requests, .. } = round.load;
        let is_over =
            |open: &Self, part| open.len() + items > MOST_OPEN / part || open.kept + requests > MOST_KEPT / part;
        if !is_over(self, 1) {
            return Ok(());
        }
        // Closes many rounds at once, because they share the waiting time before the last reading.
        let mut oldest = Vec::new();
        while self.open.len() > stay && is_over(self, 2) {
            let Some(open) = self.open.pop_front() else { break };
            self.kept -= open.round.load.requests * open.plays.len();
            oldest.push(open);
        }
        deployment.heal().await?;
        let sales = oldest.iter().flat_map(OpenRound::sales);
        let items: HashSet<String> = sales.map(|sale| sale.item.clone()).collect();
        check(oldest, &self.opened, record).await?;
        let done = self.opened.extract_if(.., |sale| items.contains(&sale.item)).collect();
        record.left_open(&sale_set::close(done).await);
        Ok(())
    }

    /// Remembers sales that are about to be opened, so that they are closed even if their round is never followed up.
    pub(crate) fn opens(&mut self, sales: &[Sale]) {
        self.opened.extend_from_slice(sales);
    }

    /// Follows the attack of the round at `place` of the plan up, until that is over or its buyers are told busy for
    /// long. Keeps the result so far, which becomes final with the last reading. Returns whether the round has to be
    /// played once more, because chance alone made it no test.
    ///
    /// # Errors
    /// When a ledger cannot be read, or a result cannot be kept.
    pub(crate) async fn follow_up(
        &mut self,
        place: usize,
        round: &Round,
        follow_up: SaleSetFollowUp,
        record: &Record<'_>,
    ) -> Result<bool> {
        let (mut play, result, read) = Play::follow_up(round, follow_up).await?;
        record.keep_traces(place, &play.take_traces());
        let is_chance = read.is_ok() && result.inconclusive.is_some() && play.is_no_test_by_chance();
        self.kept += round.load.requests;
        self.open.push_back(OpenRound {
            place,
            round: round.clone(),
            plays: vec![play],
            inconclusive: result.inconclusive.clone(),
            before: Vec::new(),
        });
        record.keep(place, result)?;
        read?;
        Ok(is_chance)
    }

    /// Does the same for the second play of the last round. Its result replaces the result of the first play, and names
    /// the reason for the second play.
    pub(crate) async fn replay(
        &mut self,
        round: &Round,
        follow_up: SaleSetFollowUp,
        record: &Record<'_>,
    ) -> Result<()> {
        let (mut play, result, read) = Play::follow_up(round, follow_up).await?;
        let Some(open) = self.open.back_mut() else {
            return read;
        };
        record.keep_traces(open.place, &play.take_traces());
        self.kept += round.load.requests;
        open.plays.push(play);
        open.before.extend(open.inconclusive.take());
        let result = RoundResult {
            inconclusive_before: open.before.clone(),
            ..result
        };
        record.keep(open.place, result)?;
        read
    }

    /// Waits for the busy buyers of rounds in which nothing is broken. A fault that comes now may take an answer from one of
    /// them, and nothing would explain that there.
    pub(crate) async fn end_unbroken(&mut self) {
        let unbroken = self
            .open
            .iter_mut()
            .filter(|open| open.round.threat.injection.is_none());
        for play in unbroken.flat_map(|open| &mut open.plays) {
            play.end().await;
        }
    }

    /// Waits for busy buyers, and buys and reads every ledger once more.
    ///
    /// # Errors
    /// When a shop cannot be healed, a ledger cannot be read, or a result cannot be kept. The remaining ledgers are not
    /// read then: each of them would take as long to fail.
    pub(crate) async fn check_all(&mut self, deployment: &Deployment, record: &Record<'_>) -> Result<()> {
        deployment.heal().await?;
        self.kept = 0;
        check(std::mem::take(&mut self.open).into(), &self.opened, record).await
    }

    /// Closes every sale that is still open.
    pub(crate) async fn close_all(&mut self, record: &Record<'_>) {
        let opened = std::mem::take(&mut self.opened);
        record.left_open(&sale_set::close(opened).await);
    }
}

/// Buys once more in all of these rounds. Only then reads their ledgers for the last time, and looks through the orders
/// of items that are not `opened`.
async fn check(mut rounds: Vec<OpenRound>, opened: &[Sale], record: &Record<'_>) -> Result<()> {
    let rechecks: Vec<_> = rounds.iter_mut().map(OpenRound::recheck).collect();
    stream::iter(rechecks).buffer_unordered(AT_ONCE).collect::<()>().await;
    for OpenRound { place, plays, .. } in &mut rounds {
        for play in plays {
            record.keep_traces(*place, &play.take_traces());
        }
    }
    look_elsewhere(&mut rounds, opened).await;
    let mut last = stream::iter(rounds.into_iter().map(OpenRound::observe_last)).buffer_unordered(AT_ONCE);
    while let Some((place, result, read)) = last.next().await {
        record.keep(place, result)?;
        read?;
    }
    Ok(())
}

/// Looks once in each store for orders that have a key of these rounds and are no orders of an `opened` sale.
async fn look_elsewhere(rounds: &mut [OpenRound], opened: &[Sale]) {
    let mut items: Vec<_> = rounds
        .iter_mut()
        .flat_map(|open| &mut open.plays)
        .flat_map(Play::items)
        .collect();
    let Some(reader) = items.first().map(|item| item.sale.reader.clone()) else {
        return;
    };
    for store in reader.stores() {
        let of_store = opened.iter().filter(|sale| sale.strategy.store.orders == store);
        let known: HashSet<&str> = of_store.map(|sale| sale.item.as_str()).collect();
        let orders = reader.elsewhere(store, &known).await;
        for item in &mut items {
            match &orders {
                Ok(orders) => item.take_own(store, orders),
                Err(_) => item.expected.failed_looks.push(Instant::now()),
            }
        }
    }
}

impl OpenRound {
    fn sales(&self) -> impl Iterator<Item = &Sale> {
        self.plays.iter().flat_map(|play| &play.sales)
    }

    async fn recheck(&mut self) {
        for play in &mut self.plays {
            play.recheck().await;
        }
    }

    /// Returns the place of the round, its final result, and the first error of reading.
    async fn observe_last(self) -> (usize, RoundResult, Result<()>) {
        let (mut chosen, mut outcome) = (None, Ok(()));
        for play in self.plays {
            let (result, is_chance, read) = play.observe_last(&self.round).await;
            chosen = Some(match chosen {
                Some((earlier, earlier_is_chance)) if is_worse(&earlier, earlier_is_chance, &result) => {
                    (earlier, earlier_is_chance)
                }
                Some(_) | None => (result, is_chance),
            });
            outcome = outcome.and(read);
        }
        let mut result = chosen.map_or_else(|| RoundResult::waiting(&self.round), |(result, _)| result);
        result.inconclusive_before = self.before;
        (self.place, result, outcome)
    }
}

/// Returns whether the last reading showed more about an earlier play than chance. Such a play must not be replaced by
/// a later one that went well.
fn is_worse(earlier: &RoundResult, is_chance: bool, later: &RoundResult) -> bool {
    match earlier.verdict {
        Verdict::Violated => later.verdict != Verdict::Violated,
        Verdict::Inconclusive => !is_chance && later.verdict == Verdict::Holds,
        Verdict::Holds => false,
    }
}
