//! The results of a run so far, shared by all testbeds.

use std::collections::BTreeMap;
use std::sync::{Mutex, MutexGuard, PoisonError};

use anyhow::Result;

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
