//! Places incidents among the steps of a trace, only if the purchases show that the trace has the clock of the load test.

use std::collections::HashMap;
use std::time::{Duration, Instant};

use nix::time::{ClockId, clock_gettime};

use super::incident::{Incident, IncidentKind, PlacedIncident};
use super::purchase::{Step, Trace, TracedPurchase};
use crate::responses::Responses;

/// The time from a step to the incident that is placed after it, in nanoseconds. It keeps their order in a story.
const JUST_AFTER_NS: u64 = 1_000;

impl Trace {
    /// Places these incidents, unless the trace has another clock. By another clock, most purchases would begin before
    /// their buyers sent them or after the response.
    pub fn place(&mut self, incidents: &[Incident], responses: &Responses) {
        let clock = Clock::now();
        if clock.is_that_of(&self.purchases, responses) {
            let placed = incidents.iter().filter_map(|incident| self.placed(incident, &clock));
            self.incidents = placed.collect();
        }
    }

    /// Returns the incident, moved into the gap between the steps around it: the load test sees an incident somewhat
    /// later than the instances do.
    fn placed(&self, incident: &Incident, clock: &Clock) -> Option<PlacedIncident> {
        let mut placed = PlacedIncident {
            kind: incident.kind,
            subject: incident.subject.clone(),
            from_ns: clock.ns(incident.from),
            to_ns: incident.to.map(|to| clock.ns(to)),
        };
        let here = || {
            let here = |purchase: &&TracedPurchase| purchase.instance == incident.subject;
            self.purchases.iter().filter(here)
        };
        match (incident.kind, placed.to_ns) {
            (IncidentKind::Paused | IncidentKind::Blocked, Some(to_ns)) => {
                let middle_ns = placed.from_ns / 2 + to_ns / 2;
                let steps = || here().flat_map(|purchase| &purchase.steps);
                let times = || steps().flat_map(|step| [step.began_ns, step.last_ns()]);
                let before = times().filter(|at_ns| *at_ns <= middle_ns).max();
                let after = times().filter(|at_ns| *at_ns > middle_ns).min();
                placed.from_ns = placed.from_ns.max(before.map_or(0, |at_ns| at_ns + JUST_AFTER_NS));
                placed.to_ns = Some(to_ns.min(after.unwrap_or(u64::MAX)));
            }
            (IncidentKind::Killed, _) => {
                let last = here()
                    .filter(|purchase| purchase.is_life_over)
                    .map(TracedPurchase::last_ns);
                placed.from_ns = placed.from_ns.max(last.max().map_or(0, |at_ns| at_ns + JUST_AFTER_NS));
            }
            _ => {}
        }
        placed
            .to_ns
            .is_none_or(|to_ns| placed.from_ns < to_ns)
            .then_some(placed)
    }
}

/// Returns the time by the clock that all processes of this host share, in nanoseconds.
pub(crate) fn now_ns() -> u64 {
    Clock::now().at_ns
}

/// The clock that all processes of this host share, at one moment.
pub(super) struct Clock {
    at: Instant,
    at_ns: u64,
}

impl Clock {
    pub(super) fn now() -> Self {
        let at_ns = clock_gettime(ClockId::CLOCK_MONOTONIC)
            .map(Duration::from)
            .map(ns)
            .unwrap_or_default();
        Self {
            at: Instant::now(),
            at_ns,
        }
    }

    pub(super) fn ns(&self, at: Instant) -> u64 {
        let (later, sooner) = (
            at.saturating_duration_since(self.at),
            self.at.saturating_duration_since(at),
        );
        (self.at_ns + ns(later)).saturating_sub(ns(sooner))
    }

    /// Whether most purchases began between the request of their buyer and the response.
    fn is_that_of(&self, purchases: &[TracedPurchase], responses: &Responses) -> bool {
        let mut sent: HashMap<&str, Vec<(u64, u64)>> = HashMap::new();
        for response in responses.all() {
            let span = (self.ns(response.sent), self.ns(response.ended));
            sent.entry(&response.buyer).or_default().push(span);
        }
        let (mut inside, mut outside) = (0, 0);
        for purchase in purchases {
            let Some(spans) = sent.get(purchase.buyer.as_str()) else {
                continue;
            };
            let began_ns = purchase.steps.first().map_or(0, |step: &Step| step.began_ns);
            match spans.iter().any(|(from, to)| (*from..=*to).contains(&began_ns)) {
                true => inside += 1,
                false => outside += 1,
            }
        }
        inside > outside
    }
}

fn ns(duration: Duration) -> u64 {
    u64::try_from(duration.as_nanos()).unwrap_or(u64::MAX / 2)
}
