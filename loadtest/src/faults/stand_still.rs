//! What the threats have in common under which an instance stands still in the middle of a purchase.

use std::time::Duration;

use anyhow::Result;

use super::hold;
use crate::attack::{AttackControl, SendOptions};
use crate::shop::instances::Stall;
use crate::trace::IncidentKind;

/// An instance that answers nobody for so long stands still.
const SILENT_FOR: Duration = Duration::from_millis(300);

/// How long it may take to come to that: the others do not wait for longer.
const SILENT_WITHIN: Duration = Duration::from_secs(2);

/// A question that came a little later was answered a little sooner.
const SEEN_FOR: Duration = Duration::from_millis(2_500);

/// How long after the answer to the purchase that of the instance may come.
const SEEN_WITHIN: Duration = Duration::from_secs(1);

/// How an instance comes to stand still.
pub(crate) enum Still {
    /// By SIGSTOP.
    Pause,
    /// Its executor is blocked.
    Block,
}

/// Has an instance stand still while others buy. Whether it did: it answered nobody for so long, no buyer either, and then the
/// same process did.
pub(crate) async fn act(control: &AttackControl<'_>, how: Still) -> Result<bool> {
    let what = match how {
        Still::Pause => "pause",
        Still::Block => "block",
    };
    let pause_at = &control.attack.sale.strategy.pause_at;
    let fault = format!("{what}={}@{pause_at}", hold::LASTS.as_millis());
    let stalls = control.shop.watch_stalls().await;
    let is_held = stalls.is_silent(SILENT_FOR, SILENT_WITHIN);
    hold::up(control, SendOptions::with_fault(&fault), is_held).await?;
    let stall = stalls.stood_still(SEEN_FOR, SEEN_WITHIN).await;
    let Some(stall) = stall.filter(|stall| !has_served(control, stall)) else {
        return Ok(false);
    };
    let kind = match how {
        Still::Pause => IncidentKind::Paused,
        Still::Block => IncidentKind::Blocked,
    };
    control.note(
        kind,
        stall.instance.as_deref().unwrap_or("an instance"),
        stall.from,
        Some(stall.to),
    );
    Ok(true)
}

/// Whether it sold or refused meanwhile: then it was its admin listener alone that did not answer.
fn has_served(control: &AttackControl<'_>, stall: &Stall) -> bool {
    let inside = stall.from + SILENT_FOR..stall.to - SILENT_FOR;
    control.any_answer(|response| {
        let was_served = inside.contains(&response.sent) && inside.contains(&response.ended);
        was_served && response.instance.is_some() && response.instance == stall.instance
    })
}
