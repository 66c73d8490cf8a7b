//! Plays rounds in one testbed. Each round has fresh sales, an attack with its fault, a follow-up and a verdict.

use std::sync::atomic::Ordering;
use std::time::Instant;

use anyhow::{Context, Result};
use futures_util::future::join_all;

use super::final_checks::OpenSales;
use super::{LockServices, Plan, Testbed, WatchedRound};
use crate::attack::{Attack, Crowd};
use crate::audit::Expectation;
use crate::facts::Damaged;
use crate::follow_up::{FollowUp, SaleSetFollowUp};
use crate::plan::Round;
use crate::result::RoundResult;
use crate::sale::sale_set::SaleSet;
use crate::trace::Shown;

/// The most sales of one round that are traced: an instance may refuse more.
const MOST_TRACED: usize = 64;

pub(super) struct Session<'a> {
    testbed: Testbed,
    plan: &'a Plan<'a>,
    crowd: Option<Crowd>,
    open: OpenSales,
}

impl<'a> Session<'a> {
    pub(super) fn of(testbed: Testbed, plan: &'a Plan<'a>) -> Self {
        Self {
            testbed,
            plan,
            crowd: None,
            open: OpenSales::default(),
        }
    }

    /// Returns how many sales are kept open for a final check.
    pub(super) fn final_checks_pending(&self) -> usize {
        self.open.len()
    }

    /// Plays the next round for its lock services, again and again until there is none. A round that leaves a damaged store behind
    /// is played once more in another testbed, where one can be made.
    ///
    /// # Errors
    /// When a round cannot be played, or its result cannot be kept.
    pub(super) async fn play<'b>(&mut self, next: impl Fn(LockServices) -> Option<(usize, &'b Round)>) -> Result<()> {
        while let Some((place, round)) = next(self.testbed.lock_services) {
            if !self.plan.record.begins(round) {
                continue;
            }
            if let Some(why) = round.why_not(&self.testbed.deployment) {
                self.plan.record.keep(place, RoundResult::unplayed(round, why))?;
                continue;
            }
            if let Some(why) = self.testbed.deployment.outgrown(round.instances).await {
                self.plan.record.keep(place, RoundResult::skipped(round, why))?;
                continue;
            }
            let failed = || {
                let (strategy, threat) = (&round.strategy.name, round.threat.name);
                format!("round {} ({strategy}, {threat}) could not be played", place + 1)
            };
            let mut played = self.round(place, round).await;
            if let Err(error) = &played
                && error.is::<Damaged>()
                && let Some(another) = self.plan.more
            {
                // The sales of this round alone are left behind: it was played in stores that had no others.
                let testbed = another(self.testbed.lock_services).await;
                *self = Self::of(testbed.with_context(failed)?, self.plan);
                played = self.round(place, round).await;
            }
            played.with_context(failed)?;
        }
        Ok(())
    }

    /// Reads every ledger once more.
    ///
    /// # Errors
    /// When a ledger cannot be read, or a result cannot be kept.
    pub(super) async fn check(&mut self) -> Result<()> {
        self.open.check_all(&self.testbed.deployment, &self.plan.record).await
    }

    /// Closes the sales. Waits for the crowd to stop only if there was no error before.
    ///
    /// # Errors
    /// When the crowd does not stop.
    pub(super) async fn close(mut self, may_dismiss: bool) -> Result<()> {
        self.open.close_all(&self.plan.record).await;
        match self.crowd {
            Some(crowd) if may_dismiss => crowd.dismiss().await,
            Some(_) | None => Ok(()),
        }
    }

    /// Plays a round, and plays it once more if chance alone made it no test.
    async fn round(&mut self, place: usize, round: &Round) -> Result<()> {
        let record = &self.plan.record;
        if round.threat.empties_a_store {
            self.open.check_all(&self.testbed.deployment, record).await?;
            self.open.close_all(record).await;
        }
        if round.threat.injection.is_some() {
            self.open.end_unbroken().await;
        }
        self.make_room(round, 0).await?;
        if self.meets_other_workers(round)? {
            // The attack ends the shops where these rounds were played.
            self.open.check_all(&self.testbed.deployment, record).await?;
        }
        let first = self.attack(round).await?;
        // Nobody knows when the instance came, so the round is no trial on that many.
        if let Some(why) = self.testbed.deployment.outgrown(round.instances).await {
            return record.keep(place, RoundResult::skipped(round, why));
        }
        if self.open.follow_up(place, round, first, record).await? {
            self.make_room(round, 1).await?;
            let second = self.attack(round).await?;
            self.open.replay(round, second, record).await?;
        }
        Ok(())
    }

    /// Returns whether another shop has background workers that would work for this round.
    fn meets_other_workers(&mut self, round: &Round) -> Result<bool> {
        if round.strategy.worker_steps.is_empty() {
            return Ok(false);
        }
        let deployment = &mut self.testbed.deployment;
        let shop = deployment.running(round.instances, &(round.threat.requires)(&round.strategy))?;
        Ok(!deployment.others(&shop).is_empty())
    }

    async fn make_room(&mut self, round: &Round, stay: usize) -> Result<()> {
        let (deployment, record) = (&self.testbed.deployment, &self.plan.record);
        self.open.make_room(round, stay, deployment, record).await
    }

    /// Returns a name that was never used. A shop cannot tell from it whether a round is played for the second time.
    fn next_item(&self) -> String {
        self.plan.names.item(self.plan.sales.fetch_add(1, Ordering::Relaxed))
    }

    async fn attack(&mut self, round: &Round) -> Result<SaleSetFollowUp> {
        let items = (0..round.load.items).map(|_| self.next_item()).collect();
        let names = self.plan.names;
        let Testbed { deployment, reader, .. } = &mut self.testbed;
        let shop = deployment.running(round.instances, &(round.threat.requires)(&round.strategy))?;
        let load = round.load;
        let sale_set = SaleSet::new(shop.client.clone(), reader, &round.strategy, items, names, load);
        let sale_set = if self.plan.coordinator.is_some() {
            sale_set.from(0)
        } else {
            sale_set
        };
        shop.heal().await?;
        if !round.strategy.worker_steps.is_empty() {
            deployment.end_others(&shop).await?;
        }
        self.open.opens(&sale_set.sales);
        sale_set.open().await?;
        let earlier = self.plan.record.earlier(round);
        // Without a fault all items are alike, so one trace is enough. A fault may treat each item differently.
        let are_alike = round.threat.injection.is_none();
        let mut traces = Vec::new();
        if round.is_traced(earlier) {
            let traced = sale_set.sales.iter().take(if are_alike { 1 } else { MOST_TRACED });
            traces = join_all(traced.map(|sale| shop.trace(&sale.item))).await;
        }
        self.plan.record.opens(WatchedRound {
            sale_set: sale_set.clone(),
            traces: traces.iter().flatten().cloned().collect(),
        });
        let mut traces = traces.into_iter();
        let is_control = round.threat.is_control;
        let attack = Attack {
            sale: sale_set.clone(),
            publics: shop.publics(),
            one_at_a_time: is_control,
            injection: round.threat.injection.as_ref(),
            phase: round.phase,
        };
        let attacked = match self.plan.coordinator.filter(|_| attack.can_be_shared()) {
            Some(coordinator) => coordinator.attack(&attack).await?,
            None => {
                fitting_crowd(&mut self.crowd, &attack)
                    .await?
                    .attack(attack, Some(&shop))
                    .await?
            }
        };
        let expected = Expectation {
            stock: load.stock,
            quantity: i64::from(load.quantity),
            contended: !is_control,
            // A proxy may send all purchases of one buyer to one instance.
            instances: if is_control { 1 } else { round.instances },
            fault: attacked.fault,
            absent: attacked.absent,
            is_atomic: !round.strategy.store.is_two_stores() && round.strategy.record_at.is_none(),
            failed_looks: Vec::new(),
        };
        let failed_looks = |place: usize| {
            let of_item = attacked.failed_looks.iter().filter(|(item, _)| *item == place);
            of_item.map(|(_, began)| *began).collect()
        };
        let by_item = sale_set.split(attacked.responses, attacked.observations);
        let mut pending = Vec::new();
        if round.strategy.store.is_two_stores() {
            let names: Vec<&str> = sale_set.sales.iter().map(|sale| sale.item.as_str()).collect();
            pending = shop.pending(&names).await;
        }
        let mut pending = pending.into_iter();
        let items = sale_set.sales.into_iter().zip(by_item).enumerate();
        let items = items.map(|(place, (sale, (responses, observations)))| FollowUp {
            pending: pending.next(),
            reconciled: None,
            sale,
            expected: Expectation {
                failed_looks: failed_looks(place),
                ..expected.clone()
            },
            responses,
            observations,
            trace: traces.next().flatten(),
            incidents: attacked.incidents.clone(),
            shown: Shown::default(),
            raw_traces: Vec::new(),
            elsewhere: Vec::new(),
            since: Instant::now(),
        });
        Ok(SaleSetFollowUp {
            items: items.collect(),
            struck: attacked.struck,
        })
    }
}

/// Returns the last crowd if it fits the attack, or a new one.
async fn fitting_crowd<'a>(crowd: &'a mut Option<Crowd>, attack: &Attack) -> Result<&'a mut Crowd> {
    if crowd.as_ref().is_some_and(|crowd| !crowd.suits(attack))
        && let Some(other) = crowd.take()
    {
        other.dismiss().await?;
    }
    match crowd {
        Some(crowd) => Ok(crowd),
        None => Ok(crowd.insert(Crowd::gather(&attack.sale.client.at, attack.sale.load.buyers)?)),
    }
}
