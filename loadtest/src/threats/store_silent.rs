//! No message passes between the instances and their stores and lock services, in either direction, for longer than every
//! timeout. This begins when a purchase is about to take each of the steps of its strategy. Then one instance after the
//! other is connected again, on the same connections: old messages of the first instance arrive late, while others buy at
//! the second one. The round counts only if messages of each store and service were held back.

use std::time::{Duration, Instant};

use anyhow::Result;
use stack::Relay;
use tokio::time::sleep;

use super::Threat;
use crate::attack::{AttackControl, Injection};
use crate::audit::ExplainedUnknowns;
use crate::deployment::requirement::{Requirement, lock_servers, servers};
use crate::faults::every_step::Batch;
use crate::faults::{every_step, relays, restart};
use crate::trace::IncidentKind;

/// The time of silence. The shop that is started here gives a command to Redis up after five seconds, and one to
/// MariaDB after nine, counted from the step at which the purchase was delayed. Together with the extra time of the
/// first instance, the silence is over when others come.
const SILENT_FOR: Duration = Duration::from_millis(7_800);

/// The extra silence of the first instance. By then the other instances have replaced the connections that they gave
/// up.
const FIRST_SILENT_LONGER_BY: Duration = Duration::from_millis(1_500);

/// Two items for each moment: others buy the first one after all responses, and the second one while messages may still
/// come late.
const BOUGHT_AFTER: usize = 0;
const BOUGHT_MEANWHILE: usize = 1;

/// The head start of the purchases whose items others buy meanwhile: they are to get the connections of their instance.
const HEAD_START: Duration = Duration::from_millis(50);

/// The delay of each purchase: below a lease, so that the purchase goes on while no message passes.
const DELAY: Duration = Duration::from_millis(400);

/// The business time of the others, below a lease: messages that were held back arrive meanwhile.
const WORK: Duration = Duration::from_millis(800);

/// The time after which a server that keeps only the lock is connected again.
const LOCK_BACK_AFTER: Duration = Duration::from_millis(200);

/// The time from then until the store is connected again.
const STORE_BACK_AFTER: Duration = Duration::from_millis(300);

pub(super) const THREAT: Threat = Threat {
    name: "store-silent",
    title: "store is silent",
    mostly_waits: true,
    load: |asked, strategy| every_step::load(asked, strategy, 2),
    requires: |strategy| servers(strategy).into_iter().map(Requirement::Relay).collect(),
    injection: Some(Injection {
        places: every_step::places,
        explains: ExplainedUnknowns::All,
        ..Injection::new(|control| Box::pin(inject(control)))
    }),
    source: include_str!("store_silent.rs"),
    ..Threat::PLAIN
};

async fn inject(control: &AttackControl<'_>) -> Result<bool> {
    let mut has_struck = restart::play_first_wave(control).await;
    for batch in every_step::batches(&control.attack.sale.strategy) {
        has_struck &= silence_at(control, batch).await?;
    }
    Ok(has_struck && relays::of_strategy(control)?.each_is_proven(control))
}

/// Silences everything once, when purchases are about to take the steps of the batch. Returns whether a message was held
/// back.
async fn silence_at(control: &AttackControl<'_>, batch: Batch) -> Result<bool> {
    let (bought_after, bought_meanwhile) = (batch.nth(BOUGHT_AFTER), batch.nth(BOUGHT_MEANWHILE));
    let locks = relays::of_servers(control, lock_servers(&control.attack.sale.strategy))?;
    let relays = relays::of_strategy(control)?;
    let silence = async {
        let silenced = Instant::now();
        relays.all().for_each(Relay::silence);
        sleep(SILENT_FOR).await;
        let was_silent = relays.prove_affected(control, "held back");
        relays.of_other_instances().for_each(Relay::pass);
        control.note(IncidentKind::Silent, &relays.names(), silenced, Some(Instant::now()));
        sleep(FIRST_SILENT_LONGER_BY).await;
        let back = async {
            sleep(LOCK_BACK_AFTER).await;
            locks.all().for_each(Relay::pass);
            sleep(STORE_BACK_AFTER).await;
            let at_the_first = format!("{} (first instance)", relays.names());
            control.note(IncidentKind::Silent, &at_the_first, silenced, Some(Instant::now()));
            relays.all().for_each(Relay::pass);
            anyhow::Ok(())
        };
        tokio::try_join!(every_step::send_others(control, bought_meanwhile, WORK), back)?;
        Ok(was_silent)
    };
    let after = async {
        sleep(HEAD_START).await;
        every_step::delay_purchases(control, bought_after, DELAY).await
    };
    let meanwhile = every_step::disturb_delayed(control, bought_meanwhile, DELAY, silence);
    let (was_silent, ()) = tokio::try_join!(meanwhile, after)?;
    every_step::send_successors(control, bought_after).await?;
    Ok(was_silent)
}
