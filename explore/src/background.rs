//! What happens beside the purchases: background workers go on, and time passes.

use anyhow::{Result, bail};
use tokio::task::yield_now;

use crate::arrivals::INSTANCES;
use crate::leases::{RENEWALS, RENEWED_AFTER};
use crate::play::Player;
use crate::workers::Work;

/// The most steps that workers take in a row.
const MOST_STEPS: usize = 1_000;

/// How often time passes at the end of a schedule, at most.
const MOST_PASSES: usize = 10;

/// The steps that workers took, in their order, each with its instance.
pub type Pass = Vec<(usize, &'static str)>;

/// Whether the steps of the workers of one instance are choices.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Awake {
    /// They are not.
    No,
    /// The workers were woken, and will be once more.
    First,
    /// The workers were woken for the last time.
    Again,
}

impl Player {
    /// Lets the workers go on, one at a time, until each of them sleeps or waits. Returns their steps.
    ///
    /// # Errors
    /// When a store fails, or they find no rest.
    pub(super) async fn let_workers_go(&mut self) -> Result<Pass> {
        let mut pass = Pass::new();
        while pass.len() < MOST_STEPS {
            self.waits.settle(&self.turns).await?;
            let Some(Work { instance, step, .. }) = self.turns.allow_worker(None) else {
                return Ok(pass);
            };
            pass.push((instance, step.name));
        }
        bail!("the workers find no rest")
    }

    /// Lets every lease end, and then the workers go on: twice, since a worker may have to see twice what is overdue.
    /// Returns their steps.
    ///
    /// # Errors
    /// When a store fails.
    pub(super) async fn let_time_pass(&mut self) -> Result<Pass> {
        self.leases.end()?;
        if !self.kind.has_workers {
            return Ok(Pass::new());
        }
        let mut pass = self.let_workers_go().await?;
        self.leases.end()?;
        pass.extend(self.let_workers_go().await?);
        Ok(pass)
    }

    /// Returns the instances at which the next step of a worker is a choice, of those that are awake. When these all sleep again,
    /// time passes once more, since a worker may have to see twice what is overdue.
    ///
    /// # Errors
    /// When a store fails.
    pub(super) async fn at_work(&mut self, awake: &mut [Awake; INSTANCES]) -> Result<Vec<usize>> {
        loop {
            let is_awake = |instance: &usize| awake[*instance] != Awake::No;
            let at_work =
                (0..INSTANCES).filter(|instance| is_awake(instance) && self.turns.next_work(*instance).is_some());
            let at_work: Vec<usize> = at_work.collect();
            // One that waits for a purchase goes on later.
            if !at_work.is_empty() || !self.turns.do_workers_rest() {
                return Ok(at_work);
            }
            let Some(first) = awake.iter_mut().find(|awake| **awake == Awake::First) else {
                *awake = [Awake::No; INSTANCES];
                return Ok(at_work);
            };
            *first = Awake::Again;
            self.leases.end()?;
            self.waits.settle(&self.turns).await?;
        }
    }

    /// Lets more time pass than a lease lasts, so slowly that each renewal comes in time.
    ///
    /// # Errors
    /// When a store fails.
    pub(super) async fn let_renewals_come(&mut self) -> Result<()> {
        for _ in 0..RENEWALS {
            self.leases.let_pass(RENEWED_AFTER)?;
            // Renewals that are due come to stand before their step.
            yield_now().await;
            while self.turns.allow_renewal() {
                self.waits.settle(&self.turns).await?;
            }
        }
        Ok(())
    }

    /// Lets the workers end what the purchases of a schedule have left: until they do what they do without work, or the
    /// same twice.
    ///
    /// # Errors
    /// When a store fails, or they find work for ever.
    pub(super) async fn let_workers_end(&mut self) -> Result<()> {
        if !self.kind.has_workers {
            return Ok(());
        }
        let mut before = Pass::new();
        for _ in 0..MOST_PASSES {
            let pass = self.let_time_pass().await?;
            if pass == self.idle || pass == before {
                return Ok(());
            }
            before = pass;
        }
        bail!("the workers still find work after {MOST_PASSES} times")
    }

    /// Returns the steps of workers in this schedule, but those that nobody chose and that they take without work.
    pub(super) fn work(&self) -> Vec<Work> {
        let mut work = self.turns.work();
        work.retain(|work| work.is_chosen || !self.idle.contains(&(work.instance, work.step.name)));
        work
    }
}
