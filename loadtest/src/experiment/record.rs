//! The results of a run so far, shared by all testbeds.

use std::collections::BTreeMap;
use std::sync::{Mutex, MutexGuard, PoisonError};

use anyhow::{Error, Result};

use super::RunObserver;
use crate::audit::Verdict;
use crate::plan::{Earlier, Round};
use crate::result::cell::FAILED_FOR_SURE;
use crate::result::{RoundResult, RunResult};

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
        let enough = if round.is_sometimes_broken() {
            1
        } else {
            FAILED_FOR_SURE
        };
        if !round.is_claimed() && kept.failures(round) >= enough {
            kept.left_out += 1;
            return false;
        }
        self.observer
            .begins(round, kept.rounds.len() + kept.left_out, self.planned);
        true
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
    fn repeats(&self, round: &Round) -> impl Iterator<Item = &RoundResult> {
        self.rounds.values().filter(|result| {
            result.strategy == round.strategy.name
                && result.threat == round.threat.name
                && result.phase == round.phase
                && result.instances == round.instances
        })
    }

    fn failures(&self, round: &Round) -> usize {
        let violated = |result: &&RoundResult| result.verdict == Verdict::Violated;
        self.repeats(round).filter(violated).count()
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

    #[test]
    fn a_phase_is_played_until_it_has_failed_for_sure_whatever_the_other_phases_did() {
        let run = RunResult::parse(include_bytes!("../../tests/judging/expected/result.json")).unwrap();
        let record = Record::new(
            RunResult {
                rounds: Vec::new(),
                ..run
            },
            8,
            &Nobody,
        );
        let mut played: Vec<(u32, Phase)> = Vec::new();
        for (place, round) in planned(4).iter().enumerate() {
            if record.begins(round) {
                let phase = round.phase.unwrap();
                let mut result = RoundResult::waiting(round);
                if phase == BeforeWrite {
                    result.verdict = Verdict::Violated;
                }
                assert_eq!(
                    record.earlier(round).is_violated,
                    phase == BeforeWrite && round.repeat > 1
                );
                record.keep(place, result).unwrap();
                played.push((round.repeat, phase));
            }
        }
        let before_write = [(1, BeforeWrite), (2, BeforeWrite)];
        let (broken, kept): (Vec<_>, Vec<_>) = played.into_iter().partition(|(_, phase)| *phase == BeforeWrite);
        assert_eq!(broken, before_write);
        assert_eq!(kept, [1, 2, 3, 4].map(|repeat| (repeat, AtWork)));
    }
}
