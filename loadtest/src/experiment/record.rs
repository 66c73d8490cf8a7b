//! The results of a run so far, shared by all testbeds.

use std::collections::BTreeMap;
use std::sync::{Mutex, MutexGuard, PoisonError};

use anyhow::{Error, Result};

use super::{RunObserver, WatchedRound};
use crate::audit::Verdict;
use crate::plan::{Earlier, Round};
use crate::result::cell::FAILED_FOR_SURE;
use crate::result::{RoundResult, RunResult};
use crate::trace::RawTrace;

pub(crate) struct Record<'a> {
    /// The run without its rounds.
    run: RunResult,
    planned: usize,
    observer: &'a dyn RunObserver,
    kept: Mutex<Kept>,
}

#[derive(Default)]
struct Kept {
    /// The results, by their places in the plan.
    rounds: BTreeMap<usize, RoundResult>,
    left_out: usize,
}

impl<'a> Record<'a> {
    pub(super) fn new(run: RunResult, planned: usize, observer: &'a dyn RunObserver) -> Self {
        Self {
            run,
            planned,
            observer,
            kept: Mutex::default(),
        }
    }

    /// Reports that a round begins. Returns false if the round is left out because it could show nothing new.
    pub(super) fn begins(&self, round: &Round) -> bool {
        let mut kept = self.kept();
        let is_shown = match round {
            round if round.is_claimed() => false,
            round if round.is_sometimes_broken() => kept.failures(round) > 0,
            round if round.until_broken => kept.is_broken(round),
            round => kept.failures(round) >= FAILED_FOR_SURE,
        };
        if is_shown {
            kept.left_out += 1;
            return false;
        }
        self.observer
            .begins(round, kept.rounds.len() + kept.left_out, self.planned);
        true
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

    fn is_broken(&self, round: &Round) -> bool {
        self.trial(round).any(|result| result.verdict == Verdict::Violated)
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used, reason = "a test that fails may panic")]
mod tests {
    use serde_json::json;

    use super::*;
    use crate::phase::Phase::{self, AtWork, BeforeWrite};
    use crate::plan::{Wanted, rounds};
    use crate::sale::Load;
    use crate::threats;

    struct Nobody;

    impl RunObserver for Nobody {
        fn begins(&self, _: &Round, _: usize, _: usize) {}

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
        let record = Record::new(run, rounds.len(), &Nobody);
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
