//! The plan: all rounds of a run.

pub mod soak;

use crate::deployment::{Deployment, Unplayed};
use crate::phase::Phase;
use crate::result::cell::HARMLESS;
use crate::sale::Load;
use crate::shop::catalogue::Strategy;
use crate::threats::Threat;

/// The number of rounds in which an occasional failure has to show. The rounds end at the first failure. With fewer
/// rounds one run would show it and the next one not.
pub const SEEN_WITHIN: u32 = 20;

/// One strategy under one threat, once.
#[derive(Clone)]
pub struct Round {
    /// The strategy on trial.
    pub strategy: Strategy,
    /// The threat that it is tried under.
    pub threat: &'static Threat,
    /// The phase in which the fault comes, where the threat is played in several.
    pub phase: Option<Phase>,
    /// The number of instances.
    pub instances: usize,
    /// The load.
    pub load: Load,
    /// The number of the repeat, from 1.
    pub repeat: u32,
    /// Whether it is left out when an earlier repeat, in any phase, broke the strategy as the strategy says.
    pub until_broken: bool,
    /// Whether it belongs to a soak. Then only its verdict counts.
    pub in_soak: bool,
}

impl Round {
    /// Returns the reason why it cannot be played there, if there is one.
    pub fn why_not(&self, deployment: &Deployment) -> Option<Unplayed> {
        deployment.why_not(&self.strategy, &(self.threat.requires)(&self.strategy), self.instances)
    }

    /// Returns whether the strategy promises to survive this. A control needs no promise: every strategy must be exact.
    pub fn is_claimed(&self) -> bool {
        self.threat.is_control || self.strategy.claims.iter().any(|claim| claim == self.threat.name)
    }

    /// Returns whether the strategy says that this breaks it now and then. Both outcomes agree with that.
    pub fn is_sometimes_broken(&self) -> bool {
        let names = &self.strategy.sometimes_broken_by;
        !self.is_claimed() && names.iter().any(|name| name == self.threat.name)
    }

    /// Returns whether the strategy says nothing of this threat. Both outcomes agree with that.
    pub fn is_undeclared(&self) -> bool {
        let is_broken = self.strategy.broken_by.iter().any(|name| name == self.threat.name);
        !self.is_claimed() && !self.is_sometimes_broken() && !is_broken
    }

    /// Returns whether its speed is measured. No other round may be played beside such a round.
    pub fn is_measured(&self) -> bool {
        !self.threat.mostly_waits && !self.in_soak
    }

    /// Returns whether the round is traced. A violation may come in any repeat, so all repeats are traced until one has
    /// a story. But tracing costs time: a measured round of a strategy that promises to hold is traced only in the
    /// first repeat, and after a violation. A round with a phase is always traced, also in a soak: only the trace shows
    /// whether the fault came in that phase. Other rounds of a soak have no traces: they would be longer than the limit.
    pub fn is_traced(&self, earlier: Earlier) -> bool {
        if self.phase.is_some() {
            return true;
        }
        let is_expected_to_hold = self.is_claimed() && !earlier.is_violated;
        let is_worth_it = self.repeat == 1 || !self.is_measured() || !is_expected_to_hold;
        !self.in_soak && !earlier.has_story && is_worth_it
    }
}

/// The outcome of the repeats that were played before.
#[derive(Clone, Copy, Debug, Default)]
pub struct Earlier {
    /// Whether one of them was violated.
    pub is_violated: bool,
    /// Whether one of them has a story.
    pub has_story: bool,
}

/// The options of a plan.
#[derive(Clone)]
pub struct Wanted {
    /// The threats, in the order of the columns.
    pub threats: Vec<&'static Threat>,
    /// Instance counts.
    pub instances: Vec<usize>,
    /// The load, unless a threat sets its own.
    pub load: Load,
    /// The number of repeats of each round. Where a strategy says that a threat breaks it, the round is repeated until it does,
    /// up to [`HARMLESS`] times, and up to [`SEEN_WITHIN`] where the threat breaks it now and then. Rounds whose speed is
    /// measured are never repeated more often: they are played alone, and would take most of the time.
    pub repeats: u32,
}

/// Returns the rounds: one for each phase where a threat is played in several. Strategies alternate within a repeat, so
/// that a machine that gets slower during a run affects all of them alike.
pub fn rounds(strategies: &[Strategy], wanted: &Wanted) -> Vec<Round> {
    let mut rounds = Vec::new();
    for repeat in 1..=wanted.repeats.max(SEEN_WITHIN) {
        for threat in wanted.threats.iter().copied() {
            for instances in threat.instances_of(&wanted.instances) {
                let concerned = strategies.iter().filter(|strategy| (threat.is_about)(strategy));
                let once = concerned.flat_map(|strategy| {
                    phases(threat, strategy).into_iter().map(move |phase| Round {
                        strategy: strategy.clone(),
                        threat,
                        phase,
                        instances,
                        load: (threat.load)(wanted.load, strategy),
                        repeat,
                        until_broken: repeat > wanted.repeats,
                        in_soak: false,
                    })
                });
                rounds.extend(once.filter(|round| repeat <= wanted.repeats.max(shows_within(round))));
            }
        }
    }
    rounds
}

/// Returns the number of repeats in which a failure of the round has to show.
fn shows_within(round: &Round) -> u32 {
    match round {
        round if round.is_measured() || round.is_claimed() || round.is_undeclared() => 0,
        round if round.is_sometimes_broken() => SEEN_WITHIN,
        _ => HARMLESS as u32,
    }
}

/// Returns the phases of a threat for this strategy, or the one round without a phase.
fn phases(threat: &Threat, strategy: &Strategy) -> Vec<Option<Phase>> {
    let phases: Vec<_> = (threat.phases)(strategy).into_iter().map(Some).collect();
    if phases.is_empty() { vec![None] } else { phases }
}

/// Returns the first strategy of each family: enough for a quick comparison. Without families it returns one of each
/// mechanism. A strategy that the shop calls missing stays in the plan, so that its trials are skipped with its reason, and
/// the next one of its family is tried as well.
pub fn one_per_family(catalogue: &[Strategy]) -> Vec<Strategy> {
    let mut chosen: Vec<Strategy> = Vec::new();
    for strategy in catalogue {
        let stands_for_it = |other: &Strategy| other.missing.is_none() && other.family() == strategy.family();
        if !chosen.iter().any(stands_for_it) {
            chosen.push(strategy.clone());
        }
    }
    chosen
}
