//! The results of a run so far, shared by all testbeds.

use std::collections::BTreeMap;
use std::sync::{Mutex, MutexGuard, PoisonError};

use anyhow::{Error, Result};

use super::standing::{Standing, weight};
use super::{RunObserver, WatchedRound};
use crate::audit::Verdict;
use crate::plan::{Earlier, Round};
use crate::result::cell::FAILED_FOR_SURE;
use crate::result::{RoundResult, RunResult};
use crate::trace::RawTrace;

pub(crate) struct Record<'a> {
    /// The run without its rounds.
    run: RunResult,
    /// The time of each round of the plan, as a multiple of that of one without a fault.
    weights: Vec<f64>,
    side_by_side: usize,
    observer: &'a dyn RunObserver,
    kept: Mutex<Kept>,
}

#[derive(Default)]
struct Kept {
    /// The results, by their places in the plan.
    rounds: BTreeMap<usize, RoundResult>,
    left_out: usize,
    left_out_weight: f64,
}

impl<'a> Record<'a> {
    /// So many of the planned rounds that mostly wait are played side by side.
    pub(super) fn new(run: RunResult, planned: &[Round], side_by_side: usize, observer: &'a dyn RunObserver) -> Self {
        Self {
            run,
            weights: planned.iter().map(|round| weight(round, side_by_side)).collect(),
            side_by_side,
            observer,
            kept: Mutex::default(),
        }
    }

    /// Reports that a round begins. Returns false if the round is left out because it could show nothing new.
    pub(super) fn begins(&self, round: &Round) -> bool {
        let mut kept = self.kept();
        let is_shown = match round {
            // It never comes to be, and says so once for each repeat that was asked for.
            round if round.until_broken && kept.is_not_playable(round) => true,
            round if round.is_claimed() => false,
            round if round.is_sometimes_broken() => kept.failures(round) > 0,
            round if round.until_broken => kept.is_broken(round),
            round => kept.failures(round) >= FAILED_FOR_SURE,
        };
        if is_shown {
            kept.left_out += 1;
            kept.left_out_weight += weight(round, self.side_by_side);
            return false;
        }
        self.observer.begins(round, self.standing(&kept));
        true
    }

    fn standing(&self, kept: &Kept) -> Standing {
        let played: f64 = kept.rounds.keys().map(|place| self.weights[*place]).sum();
        let left = self.weights.iter().sum::<f64>() - kept.left_out_weight - played;
        Standing {
            done: kept.rounds.len() + kept.left_out,
            all: self.weights.len(),
            left: (played > 0.0).then(|| left / played),
        }
    }

    /// Reports that the sales of a round are open.
    pub(super) fn opens(&self, open: WatchedRound) {
        self.observer.opens(open);
    }

    /// Returns the outcome of earlier repeats of this round, in the same phase.
    pub(super) fn earlier(&self, round: &Round) -> Earlier {
        let kept = self.kept();
        Earlier {
            is_violated: kept.failures(round) > 0,
            has_story: kept.repeats(round).any(|result| result.story.is_some()),
        }
    }

    /// Keeps the result of the round at `place` of the plan.
    pub(crate) fn keep(&self, place: usize, round: RoundResult) -> Result<()> {
        let mut kept = self.kept();
        let kept_now = self.observer.keeps_round(&self.run, place, &round);
        kept.rounds.insert(place, round);
        kept_now
    }

    /// Keeps the traces of a violation in the round at `place` of the plan.
    pub(crate) fn keep_traces(&self, place: usize, traces: &[RawTrace]) {
        if !traces.is_empty() {
            self.observer.keeps_traces(place, traces);
        }
    }

    /// Reports the items of sales that could not be closed, each with the reason.
    pub(super) fn left_open(&self, sales: &[(String, Error)]) {
        if !sales.is_empty() {
            self.observer.leaves_open(sales);
        }
    }

    pub(super) fn into_rounds(self) -> Vec<RoundResult> {
        let kept = self.kept.into_inner().unwrap_or_else(PoisonError::into_inner);
        kept.rounds.into_values().collect()
    }

    fn kept(&self) -> MutexGuard<'_, Kept> {
        self.kept.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Kept {
    /// Returns the results of the same trial, in every phase.
    fn trial(&self, round: &Round) -> impl Iterator<Item = &RoundResult> {
        self.rounds.values().filter(|result| {
            result.strategy == round.strategy.name
                && result.threat == round.threat.name
                && result.instances == round.instances
        })
    }

    fn repeats(&self, round: &Round) -> impl Iterator<Item = &RoundResult> {
        self.trial(round).filter(|result| result.phase == round.phase)
    }

    fn failures(&self, round: &Round) -> usize {
        let violated = |result: &&RoundResult| result.verdict == Verdict::Violated;
        self.repeats(round).filter(violated).count()
    }

    fn is_not_playable(&self, round: &Round) -> bool {
        self.trial(round).any(|result| result.not_playable.is_some())
    }

    fn is_broken(&self, round: &Round) -> bool {
        self.trial(round).any(|result| result.verdict == Verdict::Violated)
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used, reason = "a test that fails may panic")]
mod tests {
    use serde_json::json;

    use super::*;
    use crate::deployment::Unplayed;
    use crate::phase::Phase::{self, AtWork, BeforeWrite};
    use crate::plan::{Wanted, rounds};
    use crate::sale::Load;
    use crate::threats;

    struct Nobody;

    impl RunObserver for Nobody {
        fn begins(&self, _: &Round, _: Standing) {}

        fn begins_final_checks(&self, _: usize) {}

        fn leaves_open(&self, _: &[(String, Error)]) {}

        fn keeps_round(&self, _: &RunResult, _: usize, _: &RoundResult) -> Result<()> {
            Ok(())
        }

        fn keeps_run(&self, _: &RunResult) -> Result<()> {
            Ok(())
        }
    }

    /// Returns the rounds of a lock that claims nothing, in two phases.
    fn planned(repeats: u32) -> Vec<Round> {
        let strategy = json!({
            "name": "x@sql", "store": "sql", "claims": [], "broken_by": ["redis-restart"],
            "family": "lease-lock", "needs": ["redis"], "steps": ["lock"],
        });
        let wanted = Wanted {
            threats: vec![threats::find("redis-restart").unwrap()],
            instances: vec![2],
            load: Load {
                buyers: 16,
                requests: 32,
                stock: 20,
                items: 1,
                quantity: 1,
                work_ms: 1,
            },
            repeats,
        };
        rounds(&[serde_json::from_value(strategy).unwrap()], &wanted)
    }

    /// Plays the plan: the rounds that `breaks` chooses are violated. Returns the repeats and phases that were played.
    fn played(asked: u32, breaks: impl Fn(u32, Phase) -> bool) -> Vec<(u32, Phase)> {
        let run = RunResult::parse(include_bytes!("../../tests/judging/expected/result.json")).unwrap();
        let run = RunResult {
            rounds: Vec::new(),
            ..run
        };
        let rounds = planned(asked);
        let record = Record::new(run, &rounds, 1, &Nobody);
        let mut played = Vec::new();
        for (place, round) in rounds.iter().enumerate() {
            if record.begins(round) {
                let phase = round.phase.unwrap();
                let mut result = RoundResult::waiting(round);
                if breaks(round.repeat, phase) {
                    result.verdict = Verdict::Violated;
                }
                let was_broken = (1..round.repeat).any(|repeat| breaks(repeat, phase));
                assert_eq!(record.earlier(round).is_violated, was_broken);
                record.keep(place, result).unwrap();
                played.push((round.repeat, phase));
            }
        }
        played
    }

    #[test]
    fn a_phase_is_played_until_it_has_failed_for_sure_whatever_the_other_phases_did() {
        let played = played(4, |_, phase| phase == BeforeWrite);
        let (broken, kept): (Vec<_>, Vec<_>) = played.into_iter().partition(|(_, phase)| *phase == BeforeWrite);
        assert_eq!(broken, [1, 2].map(|repeat| (repeat, BeforeWrite)));
        assert_eq!(kept, [1, 2, 3, 4].map(|repeat| (repeat, AtWork)));
    }

    #[test]
    fn what_is_not_playable_is_not_tried_until_it_breaks() {
        let run = RunResult::parse(include_bytes!("../../tests/judging/expected/result.json")).unwrap();
        let rounds = planned(2);
        let record = Record::new(run, &rounds, 1, &Nobody);
        let mut begun = Vec::new();
        for (place, round) in rounds.iter().enumerate() {
            if record.begins(round) {
                let why = Unplayed::NotPlayable("it needs Redis".to_owned());
                record.keep(place, RoundResult::unplayed(round, why)).unwrap();
                begun.push(round.repeat);
            }
        }
        assert_eq!(begun, [1, 1, 2, 2]);
    }

    #[test]
    fn work_that_is_left_out_is_no_work_that_is_left() {
        let run = RunResult::parse(include_bytes!("../../tests/judging/expected/result.json")).unwrap();
        let run = RunResult {
            rounds: Vec::new(),
            ..run
        };
        // Two rounds that wait, and eight that are played until one of the two phases fails.
        let rounds = planned(1);
        let record = Record::new(run, &rounds, 1, &Nobody);
        let standing = || record.standing(&record.kept());
        assert_eq!(standing().left, None);
        for (place, round) in rounds.iter().enumerate().take(2) {
            assert!(record.begins(round));
            let result = RoundResult {
                verdict: Verdict::Violated,
                ..RoundResult::waiting(round)
            };
            record.keep(place, result.clone()).unwrap();
            // A verdict that becomes final is no further round.
            record.keep(place, result).unwrap();
        }
        assert_eq!(standing().left, Some(8.0 / 32.0));
        assert!(!record.begins(&rounds[2]));
        let (done, all, left) = (3, 10, Some(7.0 / 32.0));
        assert_eq!(standing(), Standing { done, all, left });
    }

    #[test]
    fn a_failure_that_a_strategy_expects_is_waited_for_in_five_repeats_and_in_all_phases_together() {
        let repeats = |played: Vec<(u32, Phase)>| played.into_iter().map(|(repeat, _)| repeat).collect::<Vec<_>>();
        let each_twice = |last: u32| (1..=last).flat_map(|repeat| [repeat; 2]).collect::<Vec<_>>();
        assert_eq!(repeats(played(1, |_, _| false)), each_twice(5));
        assert_eq!(repeats(played(1, |_, phase| phase == AtWork)), each_twice(1));
        assert_eq!(
            repeats(played(1, |repeat, phase| repeat == 3 && phase == BeforeWrite)),
            each_twice(3)
        );
        assert_eq!(repeats(played(7, |_, _| false)), each_twice(7));
    }
}
