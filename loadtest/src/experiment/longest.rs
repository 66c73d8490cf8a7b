//! The longest time that a run may take, by its plan: it is said at the start, and the run ends when it is over.

use std::time::Duration;

use crate::attack;
use crate::deployment::Deployment;
use crate::follow_up;
use crate::plan::Round;
use crate::sale::Load;
use crate::sale::sale_set::{AT_ONCE, CLOSED_WITHIN};
use crate::shop::pending::SETTLES_WITHIN;
use crate::workers::COME_WITHIN;

/// The time of a round besides its purchases: until the shop is healed, its sales are opened and its ledgers and traces
/// are read.
const BESIDES: Duration = Duration::from_secs(60);

/// The time that several items take to be opened and read together, beyond [`BESIDES`].
const EACH_ITEMS: Duration = Duration::from_secs(10);

/// Returns the longest time in which these rounds are played there, with all final checks, and their sales are closed.
///
/// A round that is played once more has no time of its own. Rounds mostly take much less than their longest time.
pub fn longest(rounds: &[Round], deployment: &Deployment, with_workers: bool) -> Duration {
    let played = rounds.iter().filter(|round| round.why_not(deployment).is_none());
    of_all(&played.collect::<Vec<_>>(), with_workers)
}

fn of_all(rounds: &[&Round], with_workers: bool) -> Duration {
    let attacked: Duration = rounds.iter().map(|round| of_round(round, with_workers)).sum();
    // Rounds are checked in batches, and the last part of a batch may be small.
    let checked_together = rounds.len().div_ceil(AT_ONCE) + 1;
    let work = rounds.iter().map(|round| round.load.work_ms).max().unwrap_or(0);
    let checks = follow_up::longest(Duration::from_millis(work)) * checked_together as u32;
    attacked + checks + BESIDES + CLOSED_WITHIN
}

fn of_round(round: &Round, with_workers: bool) -> Duration {
    let Load { items, work_ms, .. } = round.load;
    let (is_control, has_fault) = (round.threat.is_control, round.threat.injection.is_some());
    let attack = attack::longest(&round.load, is_control, has_fault);
    let workers = if with_workers && !is_control && !has_fault {
        COME_WITHIN
    } else {
        Duration::ZERO
    };
    let settles = if round.strategy.store.is_two_stores() {
        SETTLES_WITHIN
    } else {
        Duration::ZERO
    };
    let further_items = EACH_ITEMS * (items.div_ceil(AT_ONCE) - 1) as u32;
    let follow_up = follow_up::longest(Duration::from_millis(work_ms));
    workers + attack + follow_up + settles + further_items + BESIDES
}

/// Returns a duration for a sentence, rounded up to minutes, or to hours where it has several.
pub fn in_words(duration: Duration) -> String {
    let minutes = duration.as_secs().div_ceil(60).max(1);
    match minutes {
        0..180 => format!("{minutes} min"),
        180.. => format!("{} h", minutes.div_ceil(60)),
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used, reason = "a test that fails may panic")]
mod tests {
    use serde_json::json;

    use super::*;
    use crate::plan::{Wanted, rounds};
    use crate::threats;

    /// Returns so many rounds of four buyers under a threat.
    fn planned(threat: &str, store: &str, repeats: u32) -> Vec<Round> {
        let strategy = json!({ "name": format!("x@{store}"), "store": store, "claims": [] });
        let load = Load {
            buyers: 4,
            requests: 24,
            stock: 12,
            items: 1,
            quantity: 1,
            work_ms: 0,
        };
        let wanted = Wanted {
            threats: vec![threats::find(threat).unwrap()],
            instances: vec![2],
            load,
            repeats,
        };
        rounds(&[serde_json::from_value(strategy).unwrap()], &wanted)
    }

    fn ms(rounds: &[Round], with_workers: bool) -> u128 {
        of_all(&rounds.iter().collect::<Vec<_>>(), with_workers).as_millis()
    }

    #[test]
    fn the_longest_run_follows_from_its_rounds() {
        let six = planned("second-instance", "sql", 6);
        // Attack, follow-up and the rest of a round, and the final checks of all.
        let expected = 6 * (175_500 + 85_000 + 60_000) + 2 * 85_000 + 60_000 + 60_000;
        assert_eq!(ms(&six, false), expected);
        assert_eq!(ms(&six, true) - expected, 6 * 120_000);
        let twelve = planned("second-instance", "sql", 12);
        assert_eq!(ms(&twelve, false) - expected, 6 * 320_500 + 85_000);
        let apart = planned("second-instance", "redis+sql", 6);
        assert_eq!(ms(&apart, false) - expected, 6 * 10_000);
        // Workers do not send the purchases of a control or of a fault.
        for threat in ["one-buyer", "crashed-holder"] {
            let rounds = planned(threat, "sql", 6);
            assert_eq!(ms(&rounds, true), ms(&rounds, false), "{threat}");
        }
    }

    #[test]
    fn a_bound_is_rounded_up() {
        let table = [
            (0, "1 min"),
            (60, "1 min"),
            (61, "2 min"),
            (10_740, "179 min"),
            (10_741, "3 h"),
            (11_000, "4 h"),
        ];
        for (seconds, words) in table {
            assert_eq!(in_words(Duration::from_secs(seconds)), words, "{seconds} s");
        }
    }
}
