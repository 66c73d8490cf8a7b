//! The verdict: a pure function of what was at stake, what buyers were told and what the stores say.
//!
//! Negative stock is never looked for: a lost update oversells with the counter at zero. Everything is counted in units
//! of stock, and every order is matched by its id.

use std::collections::{HashMap, HashSet};
use std::time::Duration;

use serde::{Deserialize, Serialize};

use crate::facts::Facts;
use crate::told::{SecondClick, Told, Word};

/// A purchase sent this much later than intended was not sent by the plan.
const LATE: Duration = Duration::from_millis(500);

/// What a round was about: all that the verdict needs to know of the plan.
#[derive(Clone, Debug)]
pub struct Stake {
    /// Units the sale was opened with.
    pub stock: i64,
    /// Units of each purchase.
    pub quantity: i64,
    /// Whether purchases had to meet each other.
    pub contended: bool,
    /// How many instances had to take part.
    pub instances: usize,
    /// Whether something was broken on purpose; only then may an answer stay away.
    pub fault: Option<FaultSeen>,
}

/// Whether the fault of a round struck.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FaultSeen {
    /// It did.
    Struck,
    /// It did not: the round proves nothing.
    Missed,
}

/// What is wrong, in units of stock; 0 is right.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Findings {
    /// Sold beyond the stock: the larger of told and recorded, minus the stock.
    pub oversold: i64,
    /// Left on the shelf while buyers who wanted them were told sold out.
    pub undersold: i64,
    /// Told sold, and not in the ledger.
    pub lost: i64,
    /// In the ledger, and nobody was told, be it a whole order or more units than were bought; what was bought by a
    /// purchase that never got an answer is not counted here.
    pub ghost: i64,
    /// The counter's drop minus the orders recorded.
    pub drift: i64,
    /// Recorded again under an idempotency key that had bought already, in the attack or by a second click.
    pub duplicate: i64,
    /// 1 when units were left that sold before, and yet one more buyer, alone, could not buy.
    pub stuck: i64,
    /// Two holders inside at once: `null`, no trace is kept yet.
    pub overlap: Option<i64>,
}

impl Findings {
    /// The findings that are not zero, by name.
    pub fn named(&self) -> Vec<(&'static str, i64)> {
        let all = [
            ("oversold", self.oversold),
            ("undersold", self.undersold),
            ("lost", self.lost),
            ("ghost", self.ghost),
            ("drift", self.drift),
            ("duplicate", self.duplicate),
            ("stuck", self.stuck),
            ("overlap", self.overlap.unwrap_or(0)),
        ];
        all.into_iter().filter(|(_, units)| *units != 0).collect()
    }
}

/// What a round shows.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Verdict {
    /// Nothing was wrong, and it could have been.
    Holds,
    /// Something was wrong.
    Violated,
    /// Nothing was wrong, but the round was no test.
    Inconclusive,
}

/// The verdict with its reasons.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Judgement {
    /// The verdict.
    pub verdict: Verdict,
    /// What was found.
    pub findings: Findings,
    /// Why the round proves nothing, where it does not.
    pub inconclusive: Option<String>,
    /// Units in the ledger.
    pub recorded: i64,
    /// Units recorded for purchases whose answer never came: explained, and told apart from ghosts.
    pub explained: i64,
}

/// Judges one round.
pub fn judge(stake: &Stake, told: &Told, facts: &Facts) -> Judgement {
    let (findings, explained) = findings(stake, told, facts);
    let reason = why_inconclusive(stake, told);
    let verdict = match (findings.named().is_empty(), &reason) {
        (false, _) => Verdict::Violated,
        (true, Some(_)) => Verdict::Inconclusive,
        (true, None) => Verdict::Holds,
    };
    Judgement {
        verdict,
        findings,
        inconclusive: reason.filter(|_| verdict == Verdict::Inconclusive),
        recorded: facts.orders.iter().map(|order| order.quantity).sum(),
        explained,
    }
}

fn findings(stake: &Stake, told: &Told, facts: &Facts) -> (Findings, i64) {
    if facts.cut_short {
        // More orders than purchases were ever sent. How many more is not worth reading.
        let ghost = facts.orders.len().max(1) as i64;
        let findings = Findings {
            ghost,
            ..Findings::default()
        };
        return (findings, 0);
    }
    let recorded: i64 = facts.orders.iter().map(|order| order.quantity).sum();
    let sold = told.count(Word::Sold) as i64 * stake.quantity;
    let matching = Matching::new(stake, told, facts);
    let refused = told.count(Word::SoldOut) as i64 * stake.quantity;
    let could_be_sold = facts.stock_left.max(0) / stake.quantity * stake.quantity;
    let last_word = told.last_buyer.as_ref().map(|answer| answer.word);
    let click = told.second_click.as_ref();
    let twice = click.map_or(0, |click| (click.recorded - stake.quantity).max(0));
    // A shop that never sold anything is not stuck but dead: that proves nothing, not even that a strategy fails.
    let stuck = sold > 0 && matches!(last_word, Some(Word::Busy | Word::Unknown | Word::Rejected));
    let findings = Findings {
        oversold: (sold.max(recorded) - stake.stock).max(0),
        undersold: could_be_sold.min(refused),
        lost: matching.lost,
        ghost: matching.ghost,
        drift: (stake.stock - facts.stock_left) - recorded,
        duplicate: matching.duplicate + twice,
        stuck: i64::from(stuck),
        overlap: None,
    };
    (findings, matching.explained)
}

/// Orders told and orders recorded, matched by id.
struct Matching {
    lost: i64,
    ghost: i64,
    duplicate: i64,
    explained: i64,
}

impl Matching {
    fn new(stake: &Stake, told: &Told, facts: &Facts) -> Self {
        let mut ledger: HashMap<&str, i64> = HashMap::new();
        for order in &facts.orders {
            *ledger.entry(&order.id).or_default() += order.quantity;
        }
        let promises = told.purchases().filter(|answer| answer.word == Word::Sold);
        let told_ids: HashSet<&str> = promises.clone().filter_map(|answer| answer.order.as_deref()).collect();
        let mut lost = 0;
        for answer in promises {
            let id = answer.order.as_deref().unwrap_or_default();
            // Each unit in the ledger backs one promise only: one order told to two buyers is lost to one of them.
            let backed = ledger.get_mut(id).map_or(0, |units| {
                let backing = (*units).clamp(0, stake.quantity);
                *units -= backing;
                backing
            });
            lost += stake.quantity - backed;
        }
        let (mut ghost, mut explained, mut duplicate) = (0, 0, 0);
        let unknown = told.purchases().filter(|answer| answer.word == Word::Unknown);
        let unknown: HashSet<&str> = unknown.map(|answer| answer.key.as_str()).collect();
        let mut bought: HashSet<&str> = HashSet::new();
        // Orders that were told come first, so that it is the other one of two that counts as the duplicate.
        let (known, untold): (Vec<_>, Vec<_>) = facts
            .orders
            .iter()
            .partition(|order| told_ids.contains(order.id.as_str()));
        for (order, was_told) in known.iter().map(|o| (o, true)).chain(untold.iter().map(|o| (o, false))) {
            let key = order.key.as_deref();
            if key.is_some_and(|key| !bought.insert(key)) {
                duplicate += order.quantity.abs();
                continue;
            }
            // Of an order that was told, what no promise accounts for. It is not summed up with its sign: an order of
            // fewer than no units would make another ghost disappear.
            let unclaimed = ledger.get(order.id.as_str()).copied().unwrap_or_default();
            let could_be_bought = if !was_told && key.is_some_and(|key| unknown.contains(key)) {
                unclaimed.clamp(0, stake.quantity)
            } else {
                0
            };
            explained += could_be_bought;
            ghost += (unclaimed - could_be_bought).abs();
        }
        Self {
            lost,
            ghost,
            duplicate,
            explained,
        }
    }
}

fn why_inconclusive(stake: &Stake, told: &Told) -> Option<String> {
    let (sold, unknown, rejected) = (
        told.count(Word::Sold),
        told.count(Word::Unknown),
        told.count(Word::Rejected),
    );
    let late = told.answers.iter().filter(|answer| answer.lateness() > LATE).count();
    let instances = told.answers.iter().filter_map(|answer| answer.instance.as_deref());
    let instances = instances.collect::<HashSet<_>>().len();
    if sold == 0 {
        return Some("nothing was sold".to_owned());
    }
    if stake.fault == Some(FaultSeen::Missed) {
        return Some("the fault never struck".to_owned());
    }
    if stake.fault.is_none() && unknown > 0 {
        return Some(format!(
            "{unknown} answers never came, though nothing was broken on purpose"
        ));
    }
    if rejected > 0 {
        return Some(format!("{rejected} purchases were rejected as if they were none"));
    }
    let forgot = |click: &SecondClick| click.second.word != Word::Sold || click.second.order != click.first.order;
    if told.second_click.as_ref().is_some_and(forgot) {
        return Some("a buyer who clicked again was not told of the same order".to_owned());
    }
    if stake.contended && told.peak() < 2 {
        return Some("no two purchases ever met".to_owned());
    }
    if instances < stake.instances {
        return Some(format!(
            "only {instances} of {} instances ever answered",
            stake.instances
        ));
    }
    (late > 0).then(|| format!("{late} purchases were sent more than {LATE:?} late"))
}
