//! Why a round in which nothing is wrong proves nothing all the same.

use std::collections::{HashMap, HashSet};
use std::time::Duration;

use super::{Excuses, Expectation, FaultSeen};
use crate::answer::{Answer, Word};
use crate::facts::Look;
use crate::told::Told;

/// A purchase sent this much later than intended was not sent by the plan.
const LATE: Duration = Duration::from_millis(500);

/// One reason.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Doubt {
    /// What it is.
    pub(super) why: String,
    is_chance: bool,
    is_of_crowd: bool,
}

impl Doubt {
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
pub(super) fn doubts(expected: &Expectation, told: &Told, last: &Look) -> Vec<Doubt> {
    let (of_chance, of_shop) = (Doubt::of_chance, Doubt::of_shop);
    let nothing_sold = told.count(Word::Sold) == 0;
    let missed = expected.fault == Some(FaultSeen::Missed);
    let rejected = told.count(Word::Rejected);
    let instances = instances(expected, told);
    let late = told.attack.iter().filter(|answer| answer.lateness() > LATE).count();
    let doubts = [
        nothing_sold.then(|| of_shop("nothing was sold".to_owned())),
        missed.then(|| of_chance("the fault never struck".to_owned())),
        silence(expected, told).map(of_shop),
        (rejected > 0).then(|| of_shop(format!("{rejected} purchases were rejected as if they were none"))),
        forgetful(told).map(of_shop),
        no_contention(expected, told).map(Doubt::of_crowd),
        (instances < expected.instances).then(|| {
            of_chance(format!(
                "only {instances} of {} instances ever sold or were sold out",
                expected.instances
            ))
            .of_crowd()
        }),
        not_exhausted(expected, told, last).map(of_shop),
        (late > 0).then(|| of_chance(format!("{late} purchases were sent more than {LATE:?} late"))),
    ];
    doubts.into_iter().flatten().collect()
}

/// Whether a delivery has to have been answered: its buyer waited for it, and no fault explains that none came. Everything
/// was back only later then.
fn has_to_be_known(expected: &Expectation, answer: &Answer) -> bool {
    let is_explained = match expected.fault {
        Some(FaultSeen::Struck { healed, excuses }) if answer.sent < healed => match excuses {
            Excuses::Nothing => false,
            Excuses::Silence => answer.instance.is_none(),
            Excuses::Ignorance => true,
        },
        Some(_) | None => false,
    };
    !answer.hung_up && !is_explained
}

/// Answers that never came, whatever else their buyers were told.
fn silence(expected: &Expectation, told: &Told) -> Option<String> {
    let unknown = told
        .answers()
        .chain(&told.altered)
        .filter(|answer| answer.word == Word::Unknown);
    let unexplained = unknown.filter(|answer| has_to_be_known(expected, answer)).count();
    let although = match expected.fault {
        Some(FaultSeen::Struck {
            excuses: Excuses::Nothing,
            ..
        }) => "though what was broken explains none of that",
        Some(FaultSeen::Struck {
            excuses: Excuses::Silence,
            ..
        }) => "though what was broken does not explain that",
        Some(_) => "after everything was back",
        None => "though nothing was broken on purpose",
    };
    (unexplained > 0).then(|| format!("{unexplained} answers never came, {although}"))
}

/// Whether purchases met. Where nothing is broken, two at least have to be sold while others want the same: it takes two
/// to sell one unit twice. Whether they met is chance; how many of those who met were sold something is not.
fn no_contention(expected: &Expectation, told: &Told) -> Option<Doubt> {
    if !expected.contended {
        return None;
    }
    let is_broken = expected.fault.is_some();
    if !told.met(|word| is_broken || word == Word::Sold) {
        return Some(Doubt::of_chance("no two purchases ever met".to_owned()));
    }
    let sold = told.attack.iter().filter(|answer| answer.word == Word::Sold).count() as i64;
    let enough = (expected.stock / expected.quantity).min(2);
    let why = || format!("only {sold} purchases were sold while buyers competed");
    (!is_broken && sold < enough).then(|| Doubt::of_shop(why()))
}

/// What each delivery of a purchase has to be told that is told of one that it is sold.
fn forgetful(told: &Told) -> Option<String> {
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
        (Some(_), Word::SoldOut | Word::Rejected) => false,
        (Some(_), Word::Unknown) | (None, _) => true,
    };
    if let Some(answer) = told.answers().find(|answer| !agrees(answer)) {
        let instead = match answer.word {
            Word::Sold => "of another",
            Word::SoldOut => "that the item is sold out",
            Word::Busy => "to come again",
            Word::Rejected | Word::Unknown => "that it is no purchase",
        };
        return Some(format!(
            "a buyer who clicked again was not told of the same order, but {instead}"
        ));
    }
    let accepted = told.altered.iter().any(|answer| answer.word == Word::Sold);
    accepted.then(|| "a purchase that was sent again with another quantity or buyer was not refused".to_owned())
}

/// Whether no later delivery of the same purchase was answered.
fn is_last(told: &Told, answer: &Answer) -> bool {
    let same = told.answers().filter(|other| other.key == answer.key);
    same.map(|other| other.ended).max() == Some(answer.ended)
}

/// How many instances took part: in the attack, and after a fault in what came when everything was back. One that only ever
/// tells its buyers to come again sells nothing, so nobody can meet there.
fn instances(expected: &Expectation, told: &Told) -> usize {
    let healed = match expected.fault {
        Some(FaultSeen::Struck { healed, .. }) => Some(healed),
        Some(FaultSeen::Missed) | None => None,
    };
    let counts = |answer: &&Answer| healed.is_none_or(|healed| answer.sent >= healed);
    let decides = |answer: &&Answer| matches!(answer.word, Word::Sold | Word::SoldOut);
    let deciding = told.answers().filter(counts).filter(decides);
    let deciding: HashSet<&str> = deciding.filter_map(|answer| answer.instance.as_deref()).collect();
    if healed.is_some() {
        return deciding.len();
    }
    // Who was told to come again in the attack may have come later.
    let attacked = told.attack.iter().filter_map(|answer| answer.instance.as_deref());
    deciding.intersection(&attacked.collect()).count()
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
