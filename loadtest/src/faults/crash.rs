//! An instance is killed in the middle of a purchase.

use std::ops::Range;
use std::time::{Duration, Instant};

use anyhow::Result;
use tokio::time::{sleep, timeout};

use crate::attack::{AttackControl, Delivery, SendOptions};
use crate::audit::Absence;
use crate::faults::{companions, successors};
use crate::sale::Load;
use crate::shop::instances::Death;
use crate::shop::response::{Response, ResponseKind};
use crate::trace::IncidentKind;

/// The longest time after a purchase broke off in which the death of its instance may be noticed.
const DIES_WITHIN: Duration = Duration::from_secs(2);

/// The longest wait for the first purchase.
const FIRST_WITHIN: Duration = Duration::from_secs(1);

/// The purchase that kills its instance.
const FATAL: usize = 0;

/// A purchase that comes before it.
const FIRST: usize = 1;

/// Purchases that compete afterwards for a lock that the dead instance may have left.
const SUCCESSORS: Range<usize> = 2..6;

/// Purchases that are under way when an instance dies.
const COMPANIONS: Range<usize> = SUCCESSORS.end..SUCCESSORS.end + companions::COMPANIONS;

pub(crate) fn places(load: &Load) -> Vec<usize> {
    (FATAL..COMPANIONS.end.min(load.buyers)).collect()
}

/// Makes an instance kill itself at that step. Returns whether one died.
pub(crate) async fn crash_at(control: &AttackControl<'_>, step: &str) -> Result<bool> {
    let places = places(&control.attack.sale.load);
    // If the first purchase of all left a lock behind, nothing would ever be sold, and a shop that sells nothing proves
    // nothing.
    if places.contains(&FIRST) {
        let _ = timeout(FIRST_WITHIN, control.send(FIRST, SendOptions::default())).await;
    }
    let (deaths, begun) = (control.shop.watch().await, Instant::now());
    // An instance that answered was not killed in the middle of the purchase. An instance that died before was killed
    // by something else.
    let has_died = async |response: Response| {
        if response.kind != ResponseKind::Unknown {
            return false;
        }
        let death = deaths.died(response.sent, DIES_WITHIN).await;
        if let Some(Death { instance, at }) = &death {
            let instance = instance.as_deref().unwrap_or("an instance");
            control.note(IncidentKind::Killed, instance, *at, None);
            let after = at.saturating_duration_since(response.sent).as_millis();
            control.prove(
                instance,
                format!(
                    "its process ended {after} ms after it was sent purchase {}",
                    response.number
                ),
            );
        }
        death.is_some()
    };
    let options = SendOptions {
        work: Some(companions::CARRIER_WORK),
        ..SendOptions::with_fault(&format!("crash@{step}"))
    };
    let of = |range: Range<usize>| range.filter(|place| places.contains(place)).collect::<Vec<_>>();
    let (successors, companions) = (of(SUCCESSORS), of(COMPANIONS));
    let afterwards = async {
        let has_died = control.provoke(FATAL, options, has_died).await;
        successors::send_staggered(control, &successors, Delivery::Once).await?;
        has_died
    };
    let at_work = async {
        sleep(companions::HEAD_START).await;
        control.release_buyers();
        companions::send(control, &companions).await
    };
    let (has_died, at_work) = tokio::join!(afterwards, at_work);
    at_work?;
    let has_died = has_died?;
    if has_died && let Some(Death { instance, at }) = deaths.died(begun, Duration::ZERO).await {
        let back = deaths.back();
        control.note_absence(Absence {
            instance,
            from: at,
            to: back.unwrap_or_else(Instant::now),
            is_back: back.is_some(),
            is_death: true,
        });
    }
    Ok(has_died)
}
