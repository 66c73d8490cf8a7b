//! What a story tells besides steps: what was done to the shop, and leases that ended.

use serde::{Deserialize, Serialize};

use crate::audit::Finding;
use crate::trace::incident::{IncidentKind, PlacedIncident};
use crate::trace::lease::Outlived;
use crate::trace::purchase::{Trace, TracedPurchase};

/// The most events of a story.
const MOST_EVENTS: usize = 12;

/// Something that is no step, and that the story would not be understood without.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct StoryEvent {
    /// What happened.
    pub what: IncidentKind,
    /// To which instance, or to which stores.
    pub subject: String,
    /// To which purchase, a place among those of the story; `None` where it happened to the whole of its subject.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub purchase: Option<usize>,
    /// When it began, in microseconds after the first step of the story; before that it is less than 0.
    pub began_us: i64,
    /// When it was over; `None` where it has no end.
    pub ended_us: Option<i64>,
}

/// The events of a story of these purchases, timed from `origin_ns`, in the order in which they began. An event that is
/// over counts only while these purchases were carried out. What a store lost stays lost; but where one unit was sold
/// twice and nothing was lost between the two, the cause is another one.
pub(super) fn events(
    shows: Finding,
    trace: &Trace,
    chosen: &[&TracedPurchase],
    killed: &[bool],
    origin_ns: u64,
) -> Vec<StoryEvent> {
    let last_ns = chosen.iter().map(|purchase| purchase.last_ns()).max().unwrap_or(0);
    let is_meanwhile = |incident: &PlacedIncident| {
        incident.from_ns <= last_ns && incident.to_ns.unwrap_or(incident.from_ns) >= origin_ns
    };
    let mut losses = trace.incidents.iter().filter(|incident| is_loss(incident.kind));
    let losses_count = shows != Finding::Oversold || losses.any(is_meanwhile);
    let is_part = |incident: &&PlacedIncident| match incident.kind {
        IncidentKind::Killed => {
            let mut those = chosen.iter().zip(killed).filter(|(_, killed)| **killed);
            is_meanwhile(incident) || those.any(|(purchase, _)| purchase.instance == incident.subject)
        }
        kind if is_loss(kind) => losses_count && (shows != Finding::Oversold || incident.from_ns <= last_ns),
        _ => is_meanwhile(incident),
    };
    let us = |at_ns: u64| (i64::try_from(at_ns).unwrap_or(i64::MAX) - i64::try_from(origin_ns).unwrap_or(0)) / 1_000;
    let incidents = trace.incidents.iter().filter(is_part).map(|incident| StoryEvent {
        what: incident.kind,
        subject: incident.subject.clone(),
        purchase: None,
        began_us: us(incident.from_ns),
        ended_us: incident.to_ns.map(us),
    });
    let leases = chosen.iter().enumerate().filter_map(|(place, purchase)| {
        Some(StoryEvent {
            what: IncidentKind::LeaseEnded,
            subject: purchase.instance.clone(),
            purchase: Some(place),
            began_us: us(Outlived::of(purchase, trace)?.ended_ns),
            ended_us: None,
        })
    });
    let mut events: Vec<StoryEvent> = leases.chain(incidents).take(MOST_EVENTS).collect();
    events.sort_by_key(|event| event.began_us);
    events
}

/// Whether what a store knew, or what the time is, is another one from then on.
fn is_loss(kind: IncidentKind) -> bool {
    matches!(
        kind,
        IncidentKind::Restarted
            | IncidentKind::RestartedEmpty
            | IncidentKind::CutOff
            | IncidentKind::FailedOver
            | IncidentKind::ClockAhead
    )
}
