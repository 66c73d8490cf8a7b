//! Reasons why a round without a finding proves nothing.

use std::collections::HashMap;
use std::time::{Duration, Instant};

use super::competition::{left_out, no_contention};
use super::{Expectation, ExplainedUnknowns, FaultSeen};
use crate::facts::Observation;
use crate::responses::Responses;
use crate::shop::response::{Response, ResponseKind};
use crate::text::counted;

/// The lateness from which on a purchase does not follow the plan.
const LATE: Duration = Duration::from_millis(500);

#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct InconclusiveReason {
    pub(super) why: String,
    is_chance: bool,
    is_lack_of_competition: bool,
}

impl InconclusiveReason {
    /// Returns whether the shop may not be to blame: the fault missed, purchases never overlapped, a proxy left an instance
    /// out, or the load test itself was late. Only then may a round be played once more.
    pub(super) fn is_chance(&self) -> bool {
        self.is_chance
    }

    /// Returns whether too few buyers came to this item, and none of them was refused. In a round with several items one
    /// item with enough competition is enough.
    pub(super) fn is_lack_of_competition(&self) -> bool {
        self.is_lack_of_competition
    }

    pub(super) fn of_chance(why: String) -> Self {
        Self {
            why,
            is_chance: true,
            is_lack_of_competition: false,
        }
    }

    /// A reason in the shop's responses or ledgers.
    pub(super) fn of_shop(why: String) -> Self {
        Self {
            is_chance: false,
            ..Self::of_chance(why)
        }
    }

    /// The same reason. It lies in a lack of competition, unless the shop refused purchases that competed: a shop that
    /// sells little must not be excused by that.
    pub(super) fn unless_refused(self, is_refused: bool) -> Self {
        Self {
            is_lack_of_competition: !is_refused,
            ..self
        }
    }
}

/// Returns all reasons. The first one is shown; the others decide whether chance alone is to blame.
pub(super) fn reasons(expected: &Expectation, responses: &Responses, last: &Observation) -> Vec<InconclusiveReason> {
    let (of_chance, of_shop) = (InconclusiveReason::of_chance, InconclusiveReason::of_shop);
    let nothing_sold = responses.count(ResponseKind::Sold) == 0;
    let missed = expected.fault == Some(FaultSeen::Missed);
    let unproven = expected.fault == Some(FaultSeen::Unproven);
    let mistimed = match expected.fault {
        Some(FaultSeen::Struck { mistimed, .. }) => mistimed,
        Some(FaultSeen::Missed | FaultSeen::Unproven) | None => None,
    };
    let mut absences = expected.absent.iter();
    let denied = absences.find_map(|absence| absence.denied(expected, responses));
    let rejected = responses.count(ResponseKind::Rejected);
    let late = responses
        .attack
        .iter()
        .filter(|response| response.lateness() > LATE)
        .count();
    let reasons = [
        nothing_sold.then(|| of_shop("nothing was sold".to_owned())),
        missed.then(|| of_chance("the fault never struck".to_owned())),
        unproven.then(|| of_shop("nothing proves that the fault struck".to_owned())),
        mistimed.map(|why| of_chance(why.to_owned())),
        denied,
        failed_looks(expected).map(of_chance),
        unanswered(expected, responses).map(of_shop),
        (rejected > 0).then(|| {
            let rejected = counted(rejected, ["valid purchase was", "valid purchases were"]);
            of_shop(format!("{rejected} rejected"))
        }),
        unlike_first_delivery(responses).map(of_shop),
        no_contention(expected, responses),
        left_out(expected, responses),
        not_exhausted(expected, responses, last).map(of_shop),
        (late > 0).then(|| {
            let late = counted(late, ["purchase was", "purchases were"]);
            of_chance(format!("{late} sent more than {LATE:?} late"))
        }),
    ];
    reasons.into_iter().flatten().collect()
}

/// Returns whether a delivery must have a response: its buyer waited for it, and no fault explains that it is missing.
/// A fault explains only deliveries that were sent before everything was back.
fn must_be_answered(expected: &Expectation, response: &Response) -> bool {
    let is_explained = match expected.fault {
        Some(FaultSeen::Struck { healed, explains, .. }) if response.sent < healed => match explains {
            ExplainedUnknowns::Nothing => false,
            ExplainedUnknowns::FromDeadInstance => {
                let mut absences = expected.absent.iter();
                let may_be_dead = expected.absent.is_empty() || absences.any(|absence| absence.explains(response));
                response.instance.is_none() && may_be_dead
            }
            ExplainedUnknowns::All => true,
        },
        Some(_) | None => false,
    };
    !response.hung_up && !is_explained
}

/// Counts the missing responses that nothing explains, whatever else their buyers were told.
fn unanswered(expected: &Expectation, responses: &Responses) -> Option<String> {
    let unknown = responses
        .all()
        .chain(&responses.altered)
        .filter(|response| response.kind == ResponseKind::Unknown);
    let unexplained = unknown.filter(|response| must_be_answered(expected, response)).count();
    let why_unexplained = match expected.fault {
        Some(FaultSeen::Struck {
            explains: ExplainedUnknowns::Nothing,
            ..
        }) => "and this fault explains no missing response",
        Some(FaultSeen::Struck {
            explains: ExplainedUnknowns::FromDeadInstance,
            ..
        }) => "and the fault does not explain that",
        Some(_) => "although everything was back",
        None => "although nothing was broken on purpose",
    };
    (unexplained > 0).then(|| {
        let requests = counted(unexplained, ["request", "requests"]);
        format!("{requests} got no clear response, {why_unexplained}")
    })
}

/// Finds a delivery of a sold purchase that did not get the same order as the first delivery.
fn unlike_first_delivery(responses: &Responses) -> Option<String> {
    let mut orders: HashMap<&str, &Response> = HashMap::new();
    for response in responses.all().filter(|response| response.kind == ResponseKind::Sold) {
        let first = orders.entry(&response.key).or_insert(response);
        if response.ended < first.ended {
            *first = response;
        }
    }
    let agrees = |response: &&Response| match (orders.get(response.key.as_str()), response.kind) {
        (Some(first), ResponseKind::Sold) => response.order == first.order,
        // While the shop carries out the first delivery, it may answer busy to the second.
        (Some(first), ResponseKind::Busy) => response.sent < first.ended || !is_last(responses, response),
        (Some(_), ResponseKind::SoldOut | ResponseKind::Rejected) => false,
        (Some(_), ResponseKind::Unknown) | (None, _) => true,
    };
    if let Some(response) = responses.all().find(|response| !agrees(response)) {
        let instead = match response.kind {
            ResponseKind::Sold => "another order",
            ResponseKind::SoldOut => "sold out",
            ResponseKind::Busy => "busy",
            ResponseKind::Rejected | ResponseKind::Unknown => "a rejection",
        };
        return Some(format!(
            "a repeated purchase did not get its order again, but {instead}"
        ));
    }
    let accepted = responses
        .altered
        .iter()
        .any(|response| is_accepted(responses, response));
    accepted.then(|| "a purchase that was sent again with another quantity or buyer was not refused".to_owned())
}

/// Returns whether the last response to an altered purchase is no refusal. A busy response puts the answer off.
fn is_accepted(responses: &Responses, altered: &Response) -> bool {
    let is_later = |other: &&Response| other.is_same_request(altered) && other.ended > altered.ended;
    match altered.kind {
        ResponseKind::Sold => true,
        ResponseKind::Busy => !responses.altered.iter().any(|other| is_later(&other)),
        ResponseKind::SoldOut | ResponseKind::Rejected | ResponseKind::Unknown => false,
    }
}

/// Counts the readings that failed while nothing was broken: the shop may keep readers out.
fn failed_looks(expected: &Expectation) -> Option<String> {
    let counts = |began: &&Instant| match expected.fault {
        Some(FaultSeen::Struck { healed, .. }) => **began >= healed,
        Some(FaultSeen::Missed | FaultSeen::Unproven) | None => true,
    };
    let failed = expected.failed_looks.iter().filter(counts).count();
    (failed > 0).then(|| {
        let readings = counted(failed, ["reading", "readings"]);
        format!("{readings} of the ledger failed although nothing was broken")
    })
}

/// Returns whether no later delivery of the same purchase was answered.
fn is_last(responses: &Responses, response: &Response) -> bool {
    let same = responses.all().filter(|other| other.key == response.key);
    same.map(|other| other.ended).max() == Some(response.ended)
}

/// Checks that the stock ran out and that the shop said so. Otherwise the round did not show how a sale ends.
fn not_exhausted(expected: &Expectation, responses: &Responses, last: &Observation) -> Option<String> {
    let left = last.facts.stock_left.unwrap_or(0);
    if left >= expected.quantity {
        return Some(format!("the stock never ran out: {left} units were left"));
    }
    let refused = |response: &Response| response.kind == ResponseKind::SoldOut;
    let is_refused = match responses.follow_up.last() {
        Some(last) => refused(last),
        None => responses.attack.iter().any(refused),
    };
    (!is_refused).then(|| "no buyer was told sold out at the end".to_owned())
}
