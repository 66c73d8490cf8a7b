//! Why a round in which nothing is wrong proves nothing all the same.

use std::collections::{HashMap, HashSet};
use std::time::Duration;

use super::{Expectation, ExplainedUnknowns, FaultSeen};
use crate::facts::Observation;
use crate::responses::Responses;
use crate::shop::response::{Response, ResponseKind};

/// A purchase sent this much later than intended was not sent by the plan.
const LATE: Duration = Duration::from_millis(500);

/// One reason.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct InconclusiveReason {
    /// What it is.
    pub(super) why: String,
    is_chance: bool,
    is_of_crowd: bool,
}

impl InconclusiveReason {
    /// Whether no answer and no ledger of the shop is to blame: the fault missed, buyers never met, a proxy left an
    /// instance out, or the load test itself was late. Only then may a round be played once more.
    pub(super) fn is_chance(&self) -> bool {
        self.is_chance
    }

    /// Whether too few of those who bought anything bought this item: where there are others, one that was wanted by enough
    /// is enough.
    pub(super) fn is_of_crowd(&self) -> bool {
        self.is_of_crowd
    }

    fn of_chance(why: String) -> Self {
        Self {
            why,
            is_chance: true,
            is_of_crowd: false,
        }
    }

    /// What the shop said or did, or left undone.
    fn of_shop(why: String) -> Self {
        Self {
            is_chance: false,
            ..Self::of_chance(why)
        }
    }

    fn of_crowd(self) -> Self {
        Self {
            is_of_crowd: true,
            ..self
        }
    }
}

/// All reasons that there are. The first one is told; the others say whether there was more to it.
pub(super) fn reasons(expected: &Expectation, responses: &Responses, last: &Observation) -> Vec<InconclusiveReason> {
    let (of_chance, of_shop) = (InconclusiveReason::of_chance, InconclusiveReason::of_shop);
    let nothing_sold = responses.count(ResponseKind::Sold) == 0;
    let missed = expected.fault == Some(FaultSeen::Missed);
    let rejected = responses.count(ResponseKind::Rejected);
    let instances = instances(expected, responses);
    let late = responses
        .attack
        .iter()
        .filter(|response| response.lateness() > LATE)
        .count();
    let inconclusive_reasons = [
        nothing_sold.then(|| of_shop("nothing was sold".to_owned())),
        missed.then(|| of_chance("the fault never struck".to_owned())),
        silence(expected, responses).map(of_shop),
        (rejected > 0).then(|| of_shop(format!("{rejected} purchases were rejected as if they were none"))),
        forgetful(responses).map(of_shop),
        no_contention(expected, responses).map(InconclusiveReason::of_crowd),
        (instances < expected.instances).then(|| {
            of_chance(format!(
                "only {instances} of {} instances ever sold or were sold out",
                expected.instances
            ))
            .of_crowd()
        }),
        not_exhausted(expected, responses, last).map(of_shop),
        (late > 0).then(|| of_chance(format!("{late} purchases were sent more than {LATE:?} late"))),
    ];
    inconclusive_reasons.into_iter().flatten().collect()
}

/// Whether a delivery has to have been answered: its buyer waited for it, and no fault explains that none came. Everything
/// was back only later then.
fn has_to_be_known(expected: &Expectation, response: &Response) -> bool {
    let is_explained = match expected.fault {
        Some(FaultSeen::Struck { healed, explains }) if response.sent < healed => match explains {
            ExplainedUnknowns::Nothing => false,
            ExplainedUnknowns::FromDeadInstance => response.instance.is_none(),
            ExplainedUnknowns::All => true,
        },
        Some(_) | None => false,
    };
    !response.hung_up && !is_explained
}

/// Answers that never came, whatever else their buyers were told.
fn silence(expected: &Expectation, responses: &Responses) -> Option<String> {
    let unknown = responses
        .responses()
        .chain(&responses.altered)
        .filter(|response| response.kind == ResponseKind::Unknown);
    let unexplained = unknown.filter(|response| has_to_be_known(expected, response)).count();
    let although = match expected.fault {
        Some(FaultSeen::Struck {
            explains: ExplainedUnknowns::Nothing,
            ..
        }) => "though what was broken explains none of that",
        Some(FaultSeen::Struck {
            explains: ExplainedUnknowns::FromDeadInstance,
            ..
        }) => "though what was broken does not explain that",
        Some(_) => "after everything was back",
        None => "though nothing was broken on purpose",
    };
    (unexplained > 0).then(|| format!("{unexplained} answers never came, {although}"))
}

/// Whether purchases met. Where nothing is broken, two at least have to be sold while others want the same: it takes two
/// to sell one unit twice. Whether they met is chance; how many of those who met were sold something is not.
fn no_contention(expected: &Expectation, responses: &Responses) -> Option<InconclusiveReason> {
    if !expected.contended {
        return None;
    }
    let is_broken = expected.fault.is_some();
    if !responses.met(|kind| is_broken || kind == ResponseKind::Sold) {
        return Some(InconclusiveReason::of_chance("no two purchases ever met".to_owned()));
    }
    let sold = responses
        .attack
        .iter()
        .filter(|response| response.kind == ResponseKind::Sold)
        .count() as i64;
    let enough = (expected.stock / expected.quantity).min(2);
    let why = || format!("only {sold} purchases were sold while buyers competed");
    (!is_broken && sold < enough).then(|| InconclusiveReason::of_shop(why()))
}

/// What each delivery of a purchase has to be told that is told of one that it is sold.
fn forgetful(responses: &Responses) -> Option<String> {
    let mut orders: HashMap<&str, &Response> = HashMap::new();
    for response in responses
        .responses()
        .filter(|response| response.kind == ResponseKind::Sold)
    {
        let first = orders.entry(&response.key).or_insert(response);
        if response.ended < first.ended {
            *first = response;
        }
    }
    let agrees = |response: &&Response| match (orders.get(response.key.as_str()), response.kind) {
        (Some(first), ResponseKind::Sold) => response.order == first.order,
        // While the first delivery is being carried out, the second may be told to wait.
        (Some(first), ResponseKind::Busy) => response.sent < first.ended || !is_last(responses, response),
        (Some(_), ResponseKind::SoldOut | ResponseKind::Rejected) => false,
        (Some(_), ResponseKind::Unknown) | (None, _) => true,
    };
    if let Some(response) = responses.responses().find(|response| !agrees(response)) {
        let instead = match response.kind {
            ResponseKind::Sold => "of another",
            ResponseKind::SoldOut => "that the item is sold out",
            ResponseKind::Busy => "to come again",
            ResponseKind::Rejected | ResponseKind::Unknown => "that it is no purchase",
        };
        return Some(format!(
            "a buyer who clicked again was not told of the same order, but {instead}"
        ));
    }
    let accepted = responses
        .altered
        .iter()
        .any(|response| response.kind == ResponseKind::Sold);
    accepted.then(|| "a purchase that was sent again with another quantity or buyer was not refused".to_owned())
}

/// Whether no later delivery of the same purchase was answered.
fn is_last(responses: &Responses, response: &Response) -> bool {
    let same = responses.responses().filter(|other| other.key == response.key);
    same.map(|other| other.ended).max() == Some(response.ended)
}

/// How many instances took part: in the attack, and after a fault in what came when everything was back. One that only ever
/// tells its buyers to come again sells nothing, so nobody can meet there.
fn instances(expected: &Expectation, responses: &Responses) -> usize {
    let healed = match expected.fault {
        Some(FaultSeen::Struck { healed, .. }) => Some(healed),
        Some(FaultSeen::Missed) | None => None,
    };
    let counts = |response: &&Response| healed.is_none_or(|healed| response.sent >= healed);
    let decides = |response: &&Response| matches!(response.kind, ResponseKind::Sold | ResponseKind::SoldOut);
    let deciding = responses.responses().filter(counts).filter(decides);
    let deciding: HashSet<&str> = deciding.filter_map(|response| response.instance.as_deref()).collect();
    if healed.is_some() {
        return deciding.len();
    }
    // Who was told to come again in the attack may have come later.
    let attacked = responses
        .attack
        .iter()
        .filter_map(|response| response.instance.as_deref());
    deciding.intersection(&attacked.collect()).count()
}

/// A sale that could still sell has not shown what it does when it cannot.
fn not_exhausted(expected: &Expectation, responses: &Responses, last: &Observation) -> Option<String> {
    let left = last.facts.stock_left.unwrap_or(0);
    if left >= expected.quantity {
        return Some(format!("the stock never ran out: {left} units were left"));
    }
    let refused = |response: &Response| response.kind == ResponseKind::SoldOut;
    let was_said = match responses.follow_up.last() {
        Some(last) => refused(last),
        None => responses.attack.iter().any(refused),
    };
    (!was_said).then(|| "nobody was told in the end that the item is sold out".to_owned())
}
