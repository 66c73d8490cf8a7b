//! Why a round in which nothing is wrong proves nothing all the same.

use std::collections::{HashMap, HashSet};
use std::time::{Duration, Instant};

use super::{Expectation, FaultSeen};
use crate::answer::{Answer, Word};
use crate::facts::Look;
use crate::told::Told;

/// A purchase sent this much later than intended was not sent by the plan.
const LATE: Duration = Duration::from_millis(500);

/// The first reason that there is.
pub(super) fn doubt(expected: &Expectation, told: &Told, last: &Look) -> Option<String> {
    let rejected = told.count(Word::Rejected);
    let late = told.attack.iter().filter(|answer| answer.lateness() > LATE).count();
    if told.count(Word::Sold) == 0 {
        return Some("nothing was sold".to_owned());
    }
    if expected.fault == Some(FaultSeen::Missed) {
        return Some("the fault never struck".to_owned());
    }
    if let Some(doubt) = silence(expected, told) {
        return Some(doubt);
    }
    if rejected > 0 {
        return Some(format!("{rejected} purchases were rejected as if they were none"));
    }
    if let Some(doubt) = forgetful(expected, told) {
        return Some(doubt.to_owned());
    }
    if let Some(doubt) = no_contention(expected, told) {
        return Some(doubt);
    }
    let instances = instances(expected, told);
    if instances < expected.instances {
        return Some(format!(
            "only {instances} of {} instances ever answered",
            expected.instances
        ));
    }
    if let Some(doubt) = not_exhausted(expected, told, last) {
        return Some(doubt);
    }
    (late > 0).then(|| format!("{late} purchases were sent more than {LATE:?} late"))
}

/// Whether a fault explains that a delivery which was sent then got no answer: everything was back only later.
fn explained(expected: &Expectation, sent: Instant) -> bool {
    matches!(expected.fault, Some(FaultSeen::Struck { healed, excuses_silence }) if excuses_silence && sent < healed)
}

/// Answers that never came, but those that a fault explains.
fn silence(expected: &Expectation, told: &Told) -> Option<String> {
    let unknown = told
        .purchases()
        .into_iter()
        .filter(|purchase| purchase.word == Word::Unknown && purchase.unanswered);
    let unexplained = unknown.filter(|purchase| !explained(expected, purchase.sent)).count();
    let although = match expected.fault {
        Some(FaultSeen::Struck {
            excuses_silence: false, ..
        }) => "though what was broken explains none of that",
        Some(_) => "after everything was back",
        None => "though nothing was broken on purpose",
    };
    (unexplained > 0).then(|| format!("{unexplained} answers never came, {although}"))
}

/// Whether purchases met. Where nothing is broken, two at least have to be sold while others want the same: it takes two
/// to sell one unit twice.
fn no_contention(expected: &Expectation, told: &Told) -> Option<String> {
    if !expected.contended {
        return None;
    }
    let is_broken = expected.fault.is_some();
    if !told.met(|word| is_broken || word == Word::Sold) {
        return Some("no two purchases ever met".to_owned());
    }
    let sold = told.attack.iter().filter(|answer| answer.word == Word::Sold).count() as i64;
    let enough = (expected.stock / expected.quantity).min(2);
    (!is_broken && sold < enough).then(|| format!("only {sold} purchases were sold while buyers competed"))
}

/// What a purchase that is sent again has to be told, once it was told that it is sold.
fn forgetful(expected: &Expectation, told: &Told) -> Option<&'static str> {
    let mut orders: HashMap<&str, &Answer> = HashMap::new();
    for answer in told.answers().filter(|answer| answer.word == Word::Sold) {
        let first = orders.entry(&answer.key).or_insert(answer);
        if answer.ended < first.ended {
            *first = answer;
        }
    }
    let agrees = |answer: &&Answer| match (orders.get(answer.key.as_str()), answer.word) {
        (Some(first), Word::Sold) => answer.order == first.order,
        // While the first delivery is being carried out, the second may be told to wait.
        (Some(first), Word::Busy) => answer.sent < first.ended || !is_last(told, answer),
        (Some(_), Word::Unknown) => answer.hung_up || explained(expected, answer.sent),
        (Some(_), Word::SoldOut | Word::Rejected) => false,
        (None, _) => true,
    };
    if !told.repeats.iter().all(|answer| agrees(&answer)) {
        return Some("a buyer who clicked again was not told of the same order");
    }
    let accepted = told.altered.iter().any(|answer| answer.word == Word::Sold);
    accepted.then_some("a purchase that was sent again with another quantity or buyer was not refused")
}

/// Whether no later delivery of the same purchase was answered.
fn is_last(told: &Told, answer: &Answer) -> bool {
    let same = told.repeats.iter().filter(|other| other.key == answer.key);
    same.map(|other| other.ended).max() == Some(answer.ended)
}

/// How many instances took part: in the attack, and after a fault in all that came when everything was back.
fn instances(expected: &Expectation, told: &Told) -> usize {
    let answers: Vec<&Answer> = match expected.fault {
        Some(FaultSeen::Struck { healed, .. }) => told.answers().filter(|answer| answer.sent >= healed).collect(),
        Some(FaultSeen::Missed) | None => told.attack.iter().collect(),
    };
    let names: HashSet<&str> = answers.iter().filter_map(|answer| answer.instance.as_deref()).collect();
    names.len()
}

/// A sale that could still sell has not shown what it does when it cannot.
fn not_exhausted(expected: &Expectation, told: &Told, last: &Look) -> Option<String> {
    let left = last.facts.stock_left.unwrap_or(0);
    if left >= expected.quantity {
        return Some(format!("the stock never ran out: {left} units were left"));
    }
    let refused = |answer: &Answer| answer.word == Word::SoldOut;
    let was_said = match told.follow_up.last() {
        Some(last) => refused(last),
        None => told.attack.iter().any(refused),
    };
    (!was_said).then(|| "nobody was told in the end that the item is sold out".to_owned())
}
