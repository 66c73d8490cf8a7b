//! While a purchase is at work at the first instance, the clocks of the second instance, of Redis and MariaDB, and of
//! PostgreSQL or every node of the Redis Cluster where the strategy uses it, jump ahead by more than any lease. Then other buyers
//! come. A store that ends leases by its clock ends them now. A lease is ended in several phases: before a renewal, after a renewal
//! and right before the write. The round counts only if each of these processes has read a time that is ahead, and the trace shows
//! that the purchase held its lock at the jump. A lock at several Redis nodes has threats of its own: `minority-clock-jump` and
//! `majority-clock-jump`.

use std::time::Instant;

use anyhow::Result;
use stack::ServiceKind;

use super::Threat;
use crate::attack::{AttackControl, Injection};
use crate::deployment::requirement::lock_servers;
use crate::faults::clocks::{self, Clocks};
use crate::faults::{hold, moment};
use crate::phase::Phase;
use crate::trace::IncidentKind;

pub(super) const THREAT: Threat = Threat {
    name: "clock-jump",
    title: "clocks jump",
    mostly_waits: true,
    is_about: |strategy| !lock_servers(strategy).contains(&ServiceKind::RedisNodes),
    phases: Phase::of_lease,
    load: hold::load,
    requires: clocks::requirements,
    injection: Some(Injection {
        places: hold::places,
        ..Injection::new(|control| Box::pin(inject(control)))
    }),
    source: include_str!("clock_jump.rs"),
    ..Threat::PLAIN
};

/// Returns whether each process read its time after the jump.
async fn inject(control: &AttackControl<'_>) -> Result<bool> {
    let mut kinds = vec![ServiceKind::Redis, ServiceKind::Sql];
    kinds.extend(clocks::further_stores(&control.attack.sale.strategy));
    let names: Vec<String> = kinds.iter().map(ToString::to_string).collect();
    let subject = format!("the second instance, {}", names.join(", "));
    let clocks = Clocks::of_second_instance_and(control, kinds)?;
    let jump = async {
        control.note(IncidentKind::ClockAhead, &subject, Instant::now(), None);
        clocks.jump_ahead()
    };
    moment::lose_lock(control, moment::UNTIL_WRITE, jump).await?;
    clocks.prove(control, "jumped ahead")
}
