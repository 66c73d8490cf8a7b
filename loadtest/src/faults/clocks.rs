//! The clocks of several processes change at once.

use std::time::Duration;

use anyhow::{Context, Result};
use stack::{Clock, Service, ServiceKind};

use crate::attack::AttackControl;
use crate::deployment::requirement::{Requirement, servers};
use crate::shop::catalogue::Strategy;

/// The distance of a step: three leases of the shop that is started here.
pub(crate) const STEP: Duration = Duration::from_secs(3);

/// Returns what a change of the clocks needs.
pub(crate) fn requirements(strategy: &Strategy) -> Vec<Requirement> {
    let clocks = std::iter::once(Requirement::Clocks);
    let further = further_stores(strategy).into_iter();
    clocks.chain(further.map(Requirement::Service)).collect()
}

/// Returns the stores of a strategy that not every shop that is started here has.
pub(crate) fn further_stores(strategy: &Strategy) -> Vec<ServiceKind> {
    let mut further = servers(strategy);
    further.retain(|kind| matches!(kind, ServiceKind::Pg | ServiceKind::Cluster));
    further
}

/// Clocks, each with the name of its process.
pub(crate) struct Clocks<'a>(Vec<(String, &'a Clock)>);

impl<'a> Clocks<'a> {
    /// Those of the second instance, and of every process of every service that the strategy names.
    pub(crate) fn beside_the_first_instance(control: &AttackControl<'a>) -> Result<Self> {
        Self::of_second_instance_and(control, servers(&control.attack.sale.strategy))
    }

    /// Those of the second instance, and of every process of these services.
    pub(crate) fn of_second_instance_and(
        control: &AttackControl<'a>,
        services: impl IntoIterator<Item = ServiceKind>,
    ) -> Result<Self> {
        let parts = control.shop.parts().context("the shop was not started here")?;
        let second = parts.shop.instances().get(1);
        let second = second.map(|instance| (instance.name().to_owned(), instance));
        let processes = services.into_iter().flat_map(|kind| {
            let processes = parts.stores.processes(kind);
            let named = (1..).zip(processes);
            named.map(move |(nth, process)| (kind.process(nth, processes.len()), process))
        });
        Ok(Self::of(second.into_iter().chain(processes)))
    }

    /// Those of these processes; one that reads the clock of the machine is left out.
    pub(crate) fn of(processes: impl IntoIterator<Item = (String, &'a Service)>) -> Self {
        let clocks = processes
            .into_iter()
            .filter_map(|(name, process)| Some((name, process.clock()?)));
        Self(clocks.collect())
    }

    /// The processes, for a sentence.
    pub(crate) fn names(&self) -> String {
        let names: Vec<&str> = self.0.iter().map(|(name, _)| name.as_str()).collect();
        names.join(", ")
    }

    /// Lets all of them jump ahead by [`STEP`].
    pub(crate) fn jump_ahead(&self) -> Result<()> {
        self.0.iter().try_for_each(|(_, clock)| clock.run_ahead(STEP))
    }

    /// Lets all of them step back by [`STEP`].
    pub(crate) fn step_back(&self) -> Result<()> {
        self.0.iter().try_for_each(|(_, clock)| clock.step_back(STEP))
    }

    /// Proves which processes read the time after their clocks had changed `how`. Returns whether each of them did.
    pub(crate) fn prove(&self, control: &AttackControl<'_>, how: &str) -> Result<bool> {
        let mut all = !self.0.is_empty();
        for (process, clock) in &self.0 {
            let times = clock.told()?;
            all &= times > 0;
            if times > 0 {
                control.prove(
                    process,
                    format!("its clock {how} by {STEP:?}, and it read the time {times} times since"),
                );
            }
        }
        Ok(all)
    }
}
