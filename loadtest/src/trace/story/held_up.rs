//! A purchase that was delayed between reading and writing, and another one that wrote meanwhile.

use super::updates::Update;
use crate::trace::event::Role;
use crate::trace::incident::IncidentKind;
use crate::trace::lease::Outlived;
use crate::trace::purchase::{Trace, TracedPurchase};

/// Returns a purchase whose instance was paused or whose lease ended, and the first other purchase that wrote
/// meanwhile. A purchase that had read the same stock is preferred. Returns nothing where there are no two such
/// purchases.
pub(super) fn held_up<'a>(trace: &Trace, sold: &[&'a TracedPurchase]) -> Vec<&'a TracedPurchase> {
    let spans = sold.iter().flat_map(|purchase| {
        let spans = pauses(trace, purchase).chain(after_lease(trace, purchase));
        spans.map(|span| (*purchase, span))
    });
    let pairs = spans.filter_map(|(purchase, span)| Some([purchase, meanwhile(purchase, span, sold)?]));
    pairs.map(Vec::from).next().unwrap_or_default()
}

type Span = (u64, u64);

/// Returns the pauses of its instance before its write.
fn pauses(trace: &Trace, purchase: &TracedPurchase) -> impl Iterator<Item = Span> {
    let is_pause = |kind| matches!(kind, IncidentKind::Paused | IncidentKind::Blocked);
    let here = trace
        .incidents
        .iter()
        .filter(move |incident| is_pause(incident.kind) && incident.subject == purchase.instance);
    let spans = here.filter_map(|incident| Some((incident.from_ns, incident.to_ns?)));
    spans.filter(|(from_ns, to_ns)| {
        let wrote_after = purchase.last(Role::Write).is_some_and(|step| step.began_ns >= *to_ns);
        wrote_after && purchase.began_ns() < *from_ns
    })
}

/// Returns the time from the end of its lease to its next step.
fn after_lease(trace: &Trace, purchase: &TracedPurchase) -> Option<Span> {
    let outlived = Outlived::of(purchase, trace)?;
    Some((outlived.ended_ns, outlived.acts_ns))
}

/// Returns the first other purchase that wrote within `span`. One with the same read as `purchase` is preferred.
fn meanwhile<'a>(purchase: &TracedPurchase, span: Span, sold: &[&'a TracedPurchase]) -> Option<&'a TracedPurchase> {
    let wrote_ns = |other: &TracedPurchase| {
        let wrote = other.last(Role::Write)?.end.as_ref()?.at_ns;
        (span.0..=span.1).contains(&wrote).then_some(wrote)
    };
    let others = sold.iter().filter(|other| other.buyer != purchase.buyer);
    let wrote = others.filter_map(|other| Some((wrote_ns(other)?, *other)));
    let read = |purchase| Update::of(purchase).and_then(|update| update.read_result());
    let first = wrote.min_by_key(|(wrote_ns, other)| (read(other) != read(purchase), *wrote_ns));
    first.map(|(_, other)| other)
}
