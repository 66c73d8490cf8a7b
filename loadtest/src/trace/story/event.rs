//! The events of a story that are no steps: incidents, and leases that ended.

use serde::{Deserialize, Serialize};

use crate::audit::Finding;
use crate::trace::incident::{IncidentKind, PlacedIncident};
use crate::trace::lease::Outlived;
use crate::trace::purchase::{Trace, TracedPurchase};

/// The most events of a story.
pub(super) const MOST_EVENTS: usize = 12;

/// An event that is no step and that explains the story.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct StoryEvent {
    /// The kind.
    pub what: IncidentKind,
    /// The instance, or the stores.
    pub subject: String,
    /// The place of the purchase in the story; `None` where the event concerns the whole subject.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub purchase: Option<usize>,
    /// The begin in microseconds after the first step of the story; negative before that step.
    pub began_us: i64,
    /// The end in microseconds; `None` where the event has none.
    pub ended_us: Option<i64>,
}

/// Returns the events of a story, timed from `origin_ns`, in the order of their begin. An event belongs to the story if
/// it happened while these purchases were carried out. A loss of data also counts when it came earlier or later,
/// because the data stays lost. But an oversale without a loss meanwhile has another cause.
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
            let mut dead = chosen.iter().zip(killed).filter(|(_, killed)| **killed);
            is_meanwhile(incident) || dead.any(|(purchase, _)| purchase.instance == incident.subject)
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

/// Whether the data of a store, or the time, is different from then on.
fn is_loss(kind: IncidentKind) -> bool {
    matches!(
        kind,
        IncidentKind::Restarted
            | IncidentKind::RestartedEmpty
            | IncidentKind::PowerLost
            | IncidentKind::CutOff
            | IncidentKind::FailedOver
            | IncidentKind::Evicted
            | IncidentKind::ClockAhead
            | IncidentKind::ClockBack
    )
}
