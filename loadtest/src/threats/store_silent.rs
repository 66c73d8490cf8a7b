//! Between the instances and their stores nothing arrives any more, in either direction, for longer than every timeout, just
//! when a purchase is about to take each of the steps that there are. Then one instance after the other hears and is heard
//! again, on the same connections: what the first of them sent before comes late, while others buy at the second.

use std::time::Duration;

use anyhow::Result;
use stack::Relay;
use tokio::time::sleep;

use super::Threat;
use crate::attack::{AttackControl, Injection};
use crate::audit::ExplainedUnknowns;
use crate::deployment::requirement::{Requirement, lock_servers, servers};
use crate::faults::{every_step, relays, restart};

/// For how long: our own shop gives a command to Redis up after five seconds, and one to MariaDB after nine, counted from the
/// step at which a purchase was held up. With what is added at the first instance that is over when others come.
const LASTS: Duration = Duration::from_millis(7_800);

/// How much longer at the first instance: by then the others have new connections where theirs were given up.
const AND_THEN: Duration = Duration::from_millis(1_500);

/// The items of each moment: one is taken over when all are answered, one is bought by others while something may still come
/// late.
const LEFT: usize = 0;
const DISPUTED: usize = 1;

/// How much sooner those come who are disputed: to them an instance is to lend its connections.
const HEAD_START: Duration = Duration::from_millis(50);

/// How long each purchase is held up: below a lease, so that it goes on while nothing arrives.
const HELD_UP: Duration = Duration::from_millis(400);

/// How long the others work then, below a lease: what was held back arrives meanwhile.
const WORK: Duration = Duration::from_millis(800);

/// When a server that keeps nothing but the lock is heard again, where that is another one than the store.
const LOCK_BACK_AFTER: Duration = Duration::from_millis(200);

/// How much later the store is.
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
    let has_begun = restart::sales_begun(control).await;
    let locks = relays::before(control, lock_servers(&control.attack.sale.strategy))?;
    let relays = relays::of(control)?;
    let silence = async {
        relays.all().for_each(Relay::silence);
        sleep(LASTS).await;
        let was_unheard = relays.any_affected();
        relays.of_others().for_each(Relay::pass);
        sleep(AND_THEN).await;
        let back = async {
            sleep(LOCK_BACK_AFTER).await;
            locks.all().for_each(Relay::pass);
            sleep(STORE_BACK_AFTER).await;
            relays.all().for_each(Relay::pass);
            anyhow::Ok(())
        };
        tokio::try_join!(every_step::others(control, DISPUTED, WORK), back)?;
        Ok(was_unheard)
    };
    let left = async {
        sleep(HEAD_START).await;
        every_step::held_up(control, LEFT, HELD_UP).await
    };
    let disputed = every_step::meets(control, DISPUTED, HELD_UP, silence);
    let (was_unheard, ()) = tokio::try_join!(disputed, left)?;
    every_step::taken_over(control, LEFT).await?;
    Ok(has_begun && was_unheard)
}
