//! Which rounds are played.

pub mod soak;

use crate::deployment::Deployment;
use crate::sale::Load;
use crate::shop::catalogue::Strategy;
use crate::threats::Threat;

/// Rounds in which what breaks a strategy now and then is to be seen: it is not tried any more once it was, or one run would
/// show it and the next one not.
pub const SEEN_WITHIN: u32 = 20;

/// One strategy under one threat, once.
#[derive(Clone)]
pub struct Round {
    /// What is on trial.
    pub strategy: Strategy,
    /// What it has to survive.
    pub threat: &'static Threat,
    /// Over how many instances.
    pub instances: usize,
    /// Under which load.
    pub load: Load,
    /// Which of the repeats, from 1.
    pub repeat: u32,
    /// Whether it is one of a soak: what it shows beside its verdict counts for nothing then.
    pub in_soak: bool,
}

impl Round {
    /// Why it cannot be played there, if it cannot.
    pub fn why_not(&self, deployment: &Deployment) -> Option<String> {
        deployment.why_not(&self.strategy, &(self.threat.requires)(&self.strategy), self.instances)
    }

    /// Whether the strategy promises to survive this. A control asks for no promise: everyone must be exact.
    pub fn is_claimed(&self) -> bool {
        self.threat.is_control || self.strategy.claims.iter().any(|claim| claim == self.threat.name)
    }

    /// Whether the strategy says that this breaks it now and then: neither outcome is then against what it says.
    pub fn is_sometimes_broken(&self) -> bool {
        let names = &self.strategy.sometimes_broken_by;
        !self.is_claimed() && names.iter().any(|name| name == self.threat.name)
    }

    /// Whether the strategy says nothing of this threat: neither outcome is then against what it says.
    pub fn is_undeclared(&self) -> bool {
        let is_said = self.strategy.broken_by.iter().any(|name| name == self.threat.name);
        !self.is_claimed() && !self.is_sometimes_broken() && !is_said
    }

    /// Whether its speed is measured, so that nothing may be played beside it.
    pub fn is_measured(&self) -> bool {
        !self.threat.mostly_waits && !self.in_soak
    }

    /// Whether the shop is asked to write down what it does, after what earlier repeats left. One story is enough, and
    /// a violation may come in any repeat: so all are traced until there is one. But tracing costs time: where speed is
    /// measured and the strategy promises to hold, only the first repeat is, and those after a broken promise. In a soak
    /// none is: its traces would be longer than what is collected.
    pub fn is_traced(&self, earlier: Earlier) -> bool {
        let is_expected_to_hold = self.is_claimed() && !earlier.is_violated;
        let is_worth_it = self.repeat == 1 || !self.is_measured() || !is_expected_to_hold;
        !self.in_soak && !earlier.has_story && is_worth_it
    }
}

/// What the repeats that were played before left.
#[derive(Clone, Copy, Debug, Default)]
pub struct Earlier {
    /// Whether one of them was violated.
    pub is_violated: bool,
    /// Whether one of them has a story.
    pub has_story: bool,
}

/// What to play.
#[derive(Clone)]
pub struct Wanted {
    /// The threats, in the order of the columns.
    pub threats: Vec<&'static Threat>,
    /// Instance counts.
    pub instances: Vec<usize>,
    /// The load where a threat does not set its own.
    pub load: Load,
    /// How often each round is played; what breaks a strategy now and then is played [`SEEN_WITHIN`] times at least.
    pub repeats: u32,
}

/// Lays out the rounds. Strategies alternate within a repeat, so that a machine that grows slower in the course of a
/// run does so for all of them.
pub fn rounds(strategies: &[Strategy], wanted: &Wanted) -> Vec<Round> {
    let mut rounds = Vec::new();
    for repeat in 1..=wanted.repeats.max(SEEN_WITHIN) {
        for threat in wanted.threats.iter().copied() {
            for instances in threat.instances_of(&wanted.instances) {
                let concerned = strategies.iter().filter(|strategy| (threat.is_about)(strategy));
                let once = concerned.map(|strategy| Round {
                    strategy: strategy.clone(),
                    threat,
                    instances,
                    load: (threat.load)(wanted.load, strategy),
                    repeat,
                    in_soak: false,
                });
                rounds.extend(once.filter(|round| repeat <= wanted.repeats || round.is_sometimes_broken()));
            }
        }
    }
    rounds
}

/// One strategy of each family, the first of the catalogue that can be used: enough for a quick comparison. Without
/// families it is one of each mechanism.
pub fn one_per_family(catalogue: &[Strategy]) -> Vec<Strategy> {
    let mut chosen: Vec<Strategy> = Vec::new();
    for strategy in catalogue.iter().filter(|strategy| strategy.missing.is_none()) {
        if chosen.iter().all(|other| other.family() != strategy.family()) {
            chosen.push(strategy.clone());
        }
    }
    chosen
}
