//! An instance stands still in the middle of a purchase.

use std::time::Duration;

use anyhow::Result;
use tokio::time::sleep;

use super::{companions, hold};
use crate::attack::{AttackControl, SendOptions};
use crate::audit::Absence;
use crate::sale::Load;
use crate::trace::IncidentKind;

/// The silence after which an instance counts as standing still.
const SILENT_FOR: Duration = Duration::from_millis(300);

/// The longest wait for that silence; after it the other buyers are released anyway.
const SILENT_WITHIN: Duration = Duration::from_secs(2);

/// The shortest silence that proves the fault. A question that was asked after the stall began is silent for less than
/// the stall.
const PROVED_BY: Duration = Duration::from_millis(2_500);

/// The longest wait for the instance's answer, after the purchase has its response.
const PROVED_WITHIN: Duration = Duration::from_secs(1);

/// The places of the purchase that is held and of its competitors, and then those of its companions.
pub(crate) fn places(load: &Load) -> Vec<usize> {
    let held = hold::places(load);
    let end = (held.len() + companions::COMPANIONS).min(load.buyers);
    (0..end).collect()
}

/// The way in which an instance is made to stand still.
pub(crate) enum StallBy {
    /// SIGSTOP.
    Pause,
    /// Its executor is blocked.
    Block,
}

/// Makes an instance stand still while others buy. Returns whether it did: it answered no question and no buyer for so
/// long, and then the same process answered.
pub(crate) async fn stall_instance(control: &AttackControl<'_>, by: StallBy) -> Result<bool> {
    let fault = match by {
        StallBy::Pause => "pause",
        StallBy::Block => "block",
    };
    let pause_at = &control.attack.sale.strategy.pause_at;
    let fault = format!("{fault}={}@{pause_at}", hold::HELD_FOR.as_millis());
    let stalls = control.shop.watch_stalls().await;
    let is_held = stalls.is_silent(SILENT_FOR, SILENT_WITHIN);
    let options = SendOptions {
        work: Some(companions::CARRIER_WORK),
        ..SendOptions::with_fault(&fault)
    };
    let load = &control.attack.sale.load;
    let companions = &places(load)[hold::places(load).len()..];
    let at_work = async {
        sleep(companions::HEAD_START).await;
        companions::send(control, companions).await
    };
    let (held, at_work) = tokio::join!(hold::with_competitors_that_ask(control, options, is_held), at_work);
    held?;
    at_work?;
    let Some(stall) = stalls.stood_still(PROVED_BY, PROVED_WITHIN).await else {
        return Ok(false);
    };
    // Perhaps only its admin listener was silent.
    control.note_absence(Absence {
        instance: stall.instance.clone(),
        from: stall.from,
        to: stall.to,
        is_back: true,
        is_death: false,
    });
    let kind = match by {
        StallBy::Pause => IncidentKind::Paused,
        StallBy::Block => IncidentKind::Blocked,
    };
    let instance = stall.instance.as_deref().unwrap_or("an instance");
    control.note(kind, instance, stall.from, Some(stall.to));
    let lasted = (stall.to - stall.from).as_millis();
    control.prove(
        instance,
        format!("it answered nothing for {lasted} ms, and then the same process answered"),
    );
    Ok(true)
}
