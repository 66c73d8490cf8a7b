//! Faults at some of the nodes of a lock service that several nodes make up.

use std::time::{Duration, Instant};

use anyhow::{Context, Result};
use stack::{Service, ServiceKind, Stores};

use super::clocks::Clocks;
use super::{hold, moment, restart};
use crate::attack::AttackControl;
use crate::deployment::requirement::{has_several_nodes, lock_servers};
use crate::phase::Phase;
use crate::shop::catalogue::Strategy;
use crate::trace::IncidentKind;

/// The business time of a purchase where the nodes have to elect a leader before they serve: the shop lets no purchase
/// work longer than five seconds.
const LONG_WORK: Duration = Duration::from_millis(4_800);

/// How many of the nodes a fault strikes.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Share {
    /// As many as may fail: two of five, one of three.
    Minority,
    /// One more than may fail: three of five, two of three.
    Majority,
    /// Each of them.
    All,
}

impl Share {
    fn of(self, nodes: usize) -> usize {
        match self {
            Self::Minority => nodes.saturating_sub(1) / 2,
            Self::Majority => nodes / 2 + 1,
            Self::All => nodes,
        }
    }

    /// Returns the nodes that are struck, with their names.
    fn nodes(self, stores: &Stores, kind: ServiceKind) -> Vec<(String, &Service)> {
        let processes = stores.processes(kind);
        let named = (1..).zip(processes).take(self.of(processes.len()));
        named
            .map(|(nth, process)| (kind.process(nth, processes.len()), process))
            .collect()
    }
}

/// Returns the services of its lock that several nodes make up.
pub(crate) fn of_strategy(strategy: &Strategy) -> Vec<ServiceKind> {
    let mut services = lock_servers(strategy);
    services.retain(|kind| has_several_nodes(*kind));
    services
}

/// Returns the phases for a fault that ends locks at these nodes. Only independent nodes lose one: an ensemble keeps its
/// locks on disk.
pub(crate) fn phases(strategy: &Strategy) -> Vec<Phase> {
    Phase::of_lock_in(strategy, ServiceKind::RedisNodes)
}

/// Kills this share of the nodes while a purchase is at work, in the phase of the round, and starts them again. Returns
/// whether anything was sold before, and the purchase was at work until they served; where the others of an ensemble serve
/// on, until they were killed.
pub(crate) async fn restart(control: &AttackControl<'_>, share: Share) -> Result<bool> {
    let mut has_struck = restart::play_first_wave(control).await;
    for kind in of_strategy(&control.attack.sale.strategy) {
        let (work, incident) = match kind {
            // They keep nothing on disk, and no lock of theirs is renewed.
            ServiceKind::RedisNodes => (hold::BELOW_A_LEASE, IncidentKind::RestartedEmpty),
            _ => (LONG_WORK, IncidentKind::Restarted),
        };
        let others_serve_on = matches!(
            (kind, share),
            (ServiceKind::ZooKeeper | ServiceKind::Etcd, Share::Minority)
        );
        let struck = restart::on_stores(control, move |stores| {
            let (nodes, killed) = (share.nodes(stores, kind), Instant::now());
            let processes = restart::kill(&nodes)?;
            let proofs = match others_serve_on {
                true => Vec::new(),
                false => restart::start(&nodes, &processes)?,
            };
            Ok((killed, processes, proofs))
        });
        let struck = moment::strike(control, work, struck).await;
        let started = match others_serve_on {
            true => {
                let struck = struck.iter().flatten();
                let processes: Vec<u32> = struck.flat_map(|(_, processes, _)| processes.clone()).collect();
                let start = move |stores: &Stores| restart::start(&share.nodes(stores, kind), &processes);
                restart::on_stores(control, start).await?
            }
            false => Vec::new(),
        };
        let Some((killed, _, proofs)) = struck? else {
            has_struck = false;
            continue;
        };
        let (proofs, back) = ([proofs, started].concat(), Instant::now());
        let names: Vec<&str> = proofs.iter().map(|proof| proof.service.as_str()).collect();
        control.note(incident, &names.join(", "), killed, Some(back));
        control.keep_proofs(proofs);
    }
    Ok(has_struck)
}

/// Lets the clocks of this share of the nodes jump ahead while a purchase is at work, in the phase of the round, and others
/// buy. Returns whether each of these nodes read its time afterwards.
pub(crate) async fn jump_ahead(control: &AttackControl<'_>, share: Share) -> Result<bool> {
    let parts = control.shop.parts().context("the shop was not started here")?;
    let services = of_strategy(&control.attack.sale.strategy).into_iter();
    let clocks = Clocks::of(services.flat_map(|kind| share.nodes(&parts.stores, kind)));
    let jump = async {
        control.note(IncidentKind::ClockAhead, &clocks.names(), Instant::now(), None);
        clocks.jump_ahead()
    };
    let has_struck = moment::strike(control, hold::BELOW_A_LEASE, jump).await?;
    Ok(clocks.prove(control, "jumped ahead")? && has_struck.is_some())
}
