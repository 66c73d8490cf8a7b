//! What follows a schedule: the verdict, and another buyer if units are left.

use anyhow::{Context, Result};
use app::domain::Name;
use loadtest::audit::Finding;
use loadtest::facts::Facts;
use loadtest::shop::response::ResponseKind;

use crate::choice::InStores;
use crate::judge::{Told, findings};
use crate::news::is_pause;
use crate::play::Player;
use crate::purchases::Purchases;

/// The most orders of a sale that are read.
const MOST_ORDERS: usize = 100;

/// The verdict on a schedule.
#[derive(Default)]
pub struct Judged {
    pub told: Vec<ResponseKind>,
    pub told_again: Vec<(usize, ResponseKind)>,
    pub told_later: Option<ResponseKind>,
    pub findings: Vec<(&'static str, i64)>,
}

impl Player {
    /// Judges the sale. If nothing else is found than that units are left, another buyer comes first.
    pub(super) async fn judge(&mut self, item: &Name, told: Vec<Told>) -> Result<Judged> {
        let arrivals = self.turns.arrivals();
        let (again, first): (Vec<_>, Vec<_>) = told.iter().partition(|told| arrivals.is_second(told.number));
        let again = again
            .into_iter()
            .map(|told| (arrivals.purchase(told.number), told.kind()));
        let has_lost_reply = self.turns.taken().iter().any(|taken| taken.has_no_reply);
        let is_struck = has_lost_reply || told.iter().any(|told| told.is_killed);
        let facts = self.facts(item).await?;
        let is_left = facts.stock_left.is_some_and(|left| left > 0);
        let mut judged = Judged {
            told: first.into_iter().map(Told::kind).collect(),
            told_again: again.collect(),
            told_later: None,
            findings: findings(arrivals, facts, &told, None, is_struck),
        };
        // A unit that is left may still be sold.
        if is_left
            && judged
                .findings
                .iter()
                .all(|(name, _)| *name == Finding::Undersold.name())
        {
            let later = self.come_later(item).await?;
            judged.told_later = Some(later.kind());
            judged.findings = findings(arrivals, self.facts(item).await?, &told, Some(&later), is_struck);
        }
        Ok(judged)
    }

    /// Returns what the stores hold of a sale.
    pub(super) async fn look(&mut self, item: &Name) -> Result<InStores> {
        let has_lease = self.leases.are_there().await?;
        let facts = self.facts(item).await?;
        Ok(InStores {
            stock_left: facts.stock_left,
            orders: facts.orders.len(),
            has_lease,
        })
    }

    /// Reads both ledgers of a sale.
    async fn facts(&self, item: &Name) -> Result<Facts> {
        self.reader.read(self.stores, item.as_str(), MOST_ORDERS).await
    }

    /// Lets a buyer come alone, after every lease has ended.
    async fn come_later(&mut self, item: &Name) -> Result<Told> {
        self.leases.end()?;
        self.come_alone(self.turns.arrivals().later(), item).await
    }

    /// Lets the purchase of this number go on alone, until it ends or would wait.
    pub(super) async fn come_alone(&mut self, number: usize, item: &Name) -> Result<Told> {
        let mut purchases = Purchases::new(self.turns.arrivals());
        purchases.send(number, item, &self.instances, &self.turns)?;
        loop {
            self.waits.settle(&self.turns).await?;
            let ready = self.turns.ready();
            // A buyer who comes alone and has to wait or to try again waits for ever.
            let goes_on = ready.iter().find(|(_, step)| !is_pause(step));
            let Some((number, _)) = goes_on else { break };
            self.turns.allow(*number);
        }
        let mut told = purchases.end(&self.turns).await;
        self.waits.none_left().await?;
        told.pop().context("a buyer who never came")
    }
}
