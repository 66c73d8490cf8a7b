//! A time in which an instance could not answer: it was dead, or it stood still. The shop says which instance that was,
//! so the buyers' responses have to bear it out.

use std::collections::BTreeSet;
use std::time::{Duration, Instant};

use super::inconclusive::InconclusiveReason;
use super::{Expectation, Finding, Findings};
use crate::responses::Responses;
use crate::shop::response::{Response, ResponseKind};

/// The time for which a response may be on its way: within it of the beginning or the end, a response proves nothing.
const ON_ITS_WAY: Duration = Duration::from_millis(250);

/// The answered purchases that show that nobody was absent if none but the one with the fault had to wait or broke off. A
/// proxy may have sent all of fewer ones to the others.
const ENOUGH_MET: usize = 4;

/// The purchases that show that nobody is served. A proxy that has not noticed a death may send some of them to the dead
/// instance.
const ENOUGH_UNSERVED: usize = 4;

/// A time in which one instance could not answer.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Absence {
    /// Its name, if it gives one.
    pub instance: Option<String>,
    /// When it began.
    pub from: Instant,
    /// Until when the instance was silent, as far as was seen.
    pub to: Instant,
    /// Whether it was seen to be back then.
    pub is_back: bool,
    /// Whether the process died: then it never answers what it had received before.
    pub is_death: bool,
}

impl Absence {
    /// Returns why the responses deny it: the instance answered a buyer meanwhile, all instances did, or nobody had to
    /// wait. Only the last of these can be chance.
    pub(super) fn denied(&self, expected: &Expectation, responses: &Responses) -> Option<InconclusiveReason> {
        if let Some(why) = self.contradicted(expected, responses) {
            return Some(InconclusiveReason::of_shop(why));
        }
        let of = if self.is_death {
            "under way when an instance died"
        } else {
            "sent while an instance stood still"
        };
        // A proxy may have sent all of them to the others.
        self.stops_nothing(responses)
            .then(|| InconclusiveReason::of_chance(format!("every purchase that was {of} was answered at once")))
    }

    /// Returns which response cannot be true if the instance was absent. A second play does not make it true.
    fn contradicted(&self, expected: &Expectation, responses: &Responses) -> Option<String> {
        let all = || responses.all().chain(&responses.asked);
        let impossible = || all().filter(|response| self.excludes(response));
        let what = if self.is_death { "was dead" } else { "stood still" };
        let names: BTreeSet<&str> = impossible()
            .filter_map(|response| response.instance.as_deref())
            .collect();
        if self.instance.as_deref().is_some_and(|own| names.contains(own)) {
            return Some(format!("the instance that {what} answered a buyer meanwhile"));
        }
        // A proxy gives no name of an instance either, but it neither sells nor knows that the stock is gone.
        let is_nameless = |response: &Response| {
            response.instance.is_none() && matches!(response.kind, ResponseKind::Sold | ResponseKind::SoldOut)
        };
        if impossible().any(is_nameless) {
            return Some(format!("a buyer was answered without a name while an instance {what}"));
        }
        (names.len() >= expected.instances).then(|| format!("all instances answered buyers while one of them {what}"))
    }

    /// Returns whether enough purchases could have met the absent instance, and none was broken off, or had to wait for
    /// it, but the one with the fault.
    fn stops_nothing(&self, responses: &Responses) -> bool {
        // A proxy sends nothing to an instance that died, but it does not know that one stands still.
        let until = if self.is_death { self.from } else { self.to };
        let could_meet = responses.attack.iter().filter(|response| {
            // A response that was on its way may have left the instance before.
            response.sent < until && response.ended + ON_ITS_WAY > self.from
        });
        let is_stopped = |response: &&Response| {
            let took_long = response.ended > response.sent + ON_ITS_WAY;
            let has_waited = !self.is_death && took_long && response.ended + ON_ITS_WAY > self.to;
            response.kind == ResponseKind::Unknown || response.sent_again || has_waited
        };
        let long_after = |response: &&Response| response.ended > self.from + ON_ITS_WAY;
        let stopped = could_meet.clone().filter(is_stopped).count();
        stopped <= 1 && could_meet.filter(long_after).count() >= ENOUGH_MET
    }

    /// Returns whether the absent instance cannot have given this response.
    fn excludes(&self, response: &Response) -> bool {
        let ended = response.ended + if self.is_back { ON_ITS_WAY } else { Duration::ZERO };
        let came_meanwhile = self.from + ON_ITS_WAY < response.ended && ended < self.to;
        // A purchase that was sent again may have reached the next process.
        let outlived = self.is_death
            && !response.sent_again
            && response.sent < self.from
            && response.ended > self.from + ON_ITS_WAY;
        came_meanwhile || outlived
    }

    /// Returns whether a response may be missing because the instance was dead.
    pub(super) fn explains(&self, response: &Response) -> bool {
        self.is_death && (!self.is_back || response.sent < self.to + ON_ITS_WAY)
    }

    /// Adds a finding if no buyer was served while one instance of several was dead.
    pub(super) fn check_survivors(&self, findings: &mut Findings, expected: &Expectation, responses: &Responses) {
        if !self.is_death || expected.instances < 2 {
            return;
        }
        let sent_meanwhile =
            |response: &&Response| self.from < response.sent && response.sent < self.to && !response.hung_up;
        let meanwhile = || responses.all().filter(sent_meanwhile);
        let is_served = meanwhile().any(|response| response.kind != ResponseKind::Unknown);
        let unserved = meanwhile().count();
        if !is_served && unserved >= ENOUGH_UNSERVED {
            findings.add(Finding::Unavailable, unserved as i64 * expected.quantity);
        }
    }
}
