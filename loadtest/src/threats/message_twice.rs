//! Messages are delivered twice and out of order, as a stream in Redis delivers them at least once. A consumer receives
//! some messages and stands still (SIGSTOP of its instance, by itself) just before the first step by which it handles
//! them. Meanwhile a newer message goes to the consumer of the other instance. After a lease that one claims the older
//! messages, handles and acknowledges them. Then the first consumer goes on and handles all of them again. The same
//! happens before the second step, and so on. The round counts only if the consumer stood still each time and messages
//! that it had received went to the other one meanwhile.

use std::collections::BTreeSet;
use std::time::Duration;

use anyhow::{Context, Result};
use futures_util::future::try_join_all;
use stack::ServiceKind;
use tokio::time::sleep;

use super::Threat;
use crate::attack::{AttackControl, Delivery, Injection, SendOptions};
use crate::deployment::requirement::Requirement;
use crate::faults::messages::{Received, received};
use crate::faults::{hold, restart, worker};
use crate::sale::Load;
use crate::text::counted;
use crate::trace::IncidentKind;

/// The steps before which the consumer stands still: it connects, enters the order, and acknowledges.
const STEPS: u32 = 3;

/// The most purchases whose messages are delivered twice, with one whose message is newer.
const MOST_MESSAGES: usize = 5;

/// The step by which a worker receives messages.
const RECEIVE: &str = "receive";

/// The silence after which the consumer counts as standing still, and the longest wait for it.
const SILENT_FOR: Duration = Duration::from_millis(300);
const SILENT_WITHIN: Duration = Duration::from_secs(2);

/// The time from then until the messages have been claimed: two leases, well before the consumer goes on.
const CLAIMED_AFTER: Duration = Duration::from_secs(2);

/// The shortest silence that proves that it stood still, and the longest wait for its end.
const PROVED_BY: Duration = Duration::from_millis(2_500);
const PROVED_WITHIN: Duration = Duration::from_secs(1);

pub(super) const THREAT: Threat = Threat {
    name: "message-twice",
    title: "messages come twice",
    mostly_waits: true,
    is_about: |strategy| strategy.worker_steps.iter().any(|step| step == RECEIVE),
    load: worker::load,
    requires: |_| vec![Requirement::EachInstance, Requirement::Service(ServiceKind::Redis)],
    injection: Some(Injection {
        places,
        ..Injection::new(|control| Box::pin(inject(control)))
    }),
    source: include_str!("message_twice.rs"),
    ..Threat::PLAIN
};

/// Returns the places of these purchases, the newer one last.
fn places(load: &Load) -> Vec<usize> {
    (0..load.buyers.min(MOST_MESSAGES)).collect()
}

async fn inject(control: &AttackControl<'_>) -> Result<bool> {
    let mut has_struck = restart::play_first_wave(control).await;
    for nth in 1..=STEPS {
        let pause = format!("pause={}", hold::HELD_FOR.as_millis());
        has_struck &= worker::arm(control, &pause, nth).await? && deliver_twice(control, nth).await?;
    }
    worker::disarm(control).await?;
    Ok(has_struck)
}

/// Lets the consumer stand still with some messages. Returns whether it did, and another one got them.
async fn deliver_twice(control: &AttackControl<'_>, nth: u32) -> Result<bool> {
    let stalls = control.shop.watch_stalls().await;
    let places = places(&control.attack.sale.load);
    let (newer, older) = places.split_last().context("a load without buyers")?;
    let sent = older.iter().map(|place| control.send(*place, at(worker::INSTANCE)));
    let meanwhile = async {
        if !stalls.is_silent(SILENT_FOR, SILENT_WITHIN).await {
            return Ok(0);
        }
        let before = received(control).await?;
        let newer = control.send(*newer, at(worker::INSTANCE + 1));
        let (newer, ()) = tokio::join!(newer, sleep(CLAIMED_AFTER));
        newer?;
        Ok(gone(&before, &received(control).await?))
    };
    let (claimed, _) = tokio::try_join!(meanwhile, try_join_all(sent))?;
    let Some(stall) = stalls.stood_still(PROVED_BY, PROVED_WITHIN).await else {
        return Ok(false);
    };
    let consumer = stall.instance.as_deref().unwrap_or("an instance");
    control.note(IncidentKind::Paused, consumer, stall.from, Some(stall.to));
    if claimed > 0 {
        let messages = counted(claimed, ["message", "messages"]);
        let stood_ms = (stall.to - stall.from).as_millis();
        let proof = format!(
            "{messages} that it had received went to another consumer as well while it stood still for {stood_ms} ms \
             before step {nth}"
        );
        control.prove(consumer, proof);
    }
    Ok(claimed > 0)
}

fn at(instance: usize) -> SendOptions {
    SendOptions {
        delivery: Delivery::At(instance),
        ..SendOptions::default()
    }
}

/// Returns how many of these messages wait no more at the consumer that had received them.
fn gone(before: &BTreeSet<Received>, now: &BTreeSet<Received>) -> usize {
    before.difference(now).count()
}
