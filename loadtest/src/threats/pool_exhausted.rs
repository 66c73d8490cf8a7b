//! One instance has no connection to the SQL database left: as many slow purchases of other items as its pool has connections each
//! keep one, just before they commit. This begins when a purchase is about to take each of the steps of its strategy, and the
//! purchase waits for a connection. The first time it waits for longer than the shop lets it; the second time for longer than
//! the rest of a lease, and others buy at another instance meanwhile. The round counts only if a further purchase waited
//! for a connection both times.

use std::time::{Duration, Instant};

use anyhow::Result;
use futures_util::future::try_join_all;
use tokio::time::sleep;

use super::Threat;
use crate::attack::{AttackControl, Delivery, Injection, SendOptions};
use crate::audit::ExplainedUnknowns;
use crate::deployment::requirement::Requirement;
use crate::faults::{every_step, restart, sql_database};
use crate::shop::catalogue::Strategy;
use crate::trace::IncidentKind;

/// The connections in the pool of an instance that is started here. A larger pool is not exhausted, and the round says so.
const POOL: usize = 16;

/// Two items for each moment: others buy the first one after all responses, and the second one while its purchase waits.
const BOUGHT_AFTER: usize = 0;
const BOUGHT_MEANWHILE: usize = 1;
const ITEMS: usize = 2;

/// The purchases that look for a connection, one after the other, until one finds none.
const LOOKS: usize = 4;

/// The further items of each time: those of the slow purchases and of the looks.
const FURTHER: usize = POOL + LOOKS;

/// The step before which slow purchases keep their connections.
const COMMIT: &str = "commit";

/// The delay of each purchase: below a lease, so that the purchase goes on while there is no connection.
const DELAY: Duration = Duration::from_millis(400);

/// Longer than the longest wait of the shop that is started here.
const LONG: Duration = Duration::from_millis(2_500);

/// Below that wait, counted from the end of the delay, and longer than a lease, counted from the purchase's begin.
const BRIEF: Duration = Duration::from_millis(1_400);

/// The time after which the slow purchases have all connections.
const EXHAUSTED_AFTER: Duration = Duration::from_millis(300);

/// The wait that proves it: a purchase that finds a connection needs a tenth of that.
const PROVED_BY: Duration = Duration::from_millis(600);

/// The instance of the slow purchases, and of those that wait.
const INSTANCE: Delivery = Delivery::At(0);

/// The business time of the other buyers.
const WORK: Duration = Duration::from_millis(100);

pub(super) const THREAT: Threat = Threat {
    name: "pool-exhausted",
    title: "no SQL connection is free",
    mostly_waits: true,
    is_about,
    load: |asked, strategy| every_step::load_with(asked, strategy, ITEMS, ITEMS * FURTHER),
    requires: |_| vec![Requirement::EachInstance],
    injection: Some(Injection {
        places: every_step::places,
        explains: ExplainedUnknowns::All,
        ..Injection::new(|control| Box::pin(inject(control)))
    }),
    source: include_str!("pool_exhausted.rs"),
    ..Threat::PLAIN
};

fn is_about(strategy: &Strategy) -> bool {
    !sql_database::all(strategy).is_empty() && strategy.steps.iter().any(|step| step == COMMIT)
}

async fn inject(control: &AttackControl<'_>) -> Result<bool> {
    let mut has_struck = restart::play_first_wave(control).await;
    for (row, batch) in (0..).zip(every_step::batches(&control.attack.sale.strategy)) {
        let items = batch.nth(BOUGHT_AFTER);
        let exhausted = exhaust(control, row, BOUGHT_AFTER, LONG);
        has_struck &= every_step::disturb_delayed(control, items, DELAY, exhausted).await?;
        every_step::send_successors(control, items).await?;
        let items = batch.nth(BOUGHT_MEANWHILE);
        let meanwhile = async {
            let exhausted = exhaust(control, row, BOUGHT_MEANWHILE, BRIEF);
            let (is_exhausted, ()) = tokio::try_join!(exhausted, every_step::send_others(control, items, WORK))?;
            Ok(is_exhausted)
        };
        has_struck &= every_step::disturb_delayed(control, items, DELAY, meanwhile).await?;
    }
    send_unused(control).await?;
    Ok(has_struck)
}

/// Sends the purchases of further items that no batch has sent: each purchase of a round is sent.
async fn send_unused(control: &AttackControl<'_>) -> Result<()> {
    let used = every_step::batches(&control.attack.sale.strategy).len();
    let unused = (used..every_step::ROWS_OF_FAULT).flat_map(|row| (0..ITEMS * FURTHER).map(move |nth| (row, nth)));
    let sent = unused.map(async |(row, nth)| {
        let place = every_step::place_from_last(control, row, nth)?;
        control.send(place, SendOptions::default()).await
    });
    try_join_all(sent).await?;
    Ok(())
}

/// Sends slow purchases that keep all connections of the instance for that long. Returns whether a look found none.
async fn exhaust(control: &AttackControl<'_>, row: usize, time: usize, keep: Duration) -> Result<bool> {
    let place = |nth| every_step::place_from_last(control, row, time * FURTHER + nth);
    let from = Instant::now();
    let slow = (LOOKS..FURTHER).map(async |nth| {
        let options = SendOptions {
            delivery: INSTANCE,
            ..SendOptions::with_fault(&format!("delay={}@{COMMIT}", keep.as_millis()))
        };
        control.send(place(nth)?, options).await
    });
    let looks = async {
        sleep(EXHAUSTED_AFTER).await;
        let mut found_none = false;
        for nth in 0..LOOKS {
            let options = SendOptions {
                delivery: INSTANCE,
                ..SendOptions::default()
            };
            let Some(pair) = control.send(place(nth)?, options).await? else {
                continue;
            };
            let waited = pair.response.ended.duration_since(pair.response.sent);
            if waited >= PROVED_BY && !found_none {
                found_none = true;
                let instance = pair.response.instance.as_deref().unwrap_or("an instance");
                control.note(IncidentKind::NoConnection, instance, from, Some(from + keep));
                let waited = waited.as_millis();
                control.prove(instance, format!("a purchase waited {waited} ms for an SQL connection"));
            }
        }
        Ok(found_none)
    };
    let (_, found_none) = tokio::try_join!(try_join_all(slow), looks)?;
    Ok(found_none)
}
