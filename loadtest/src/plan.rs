//! Which rounds are played.

use crate::catalogue::Strategy;
use crate::threats::{self, Threat};

/// The most purchases one round may send: every answer is kept in memory.
pub const MAX_REQUESTS: usize = 1_000_000;

/// The most buyers at once: each one is a connection.
pub const MAX_BUYERS: usize = 5_000;

/// How much is asked of a shop in one round.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Load {
    /// Buyers who act at the same time.
    pub buyers: usize,
    /// Purchases in all.
    pub requests: usize,
    /// Units for sale.
    pub stock: i64,
    /// Units of each purchase.
    pub quantity: u32,
    /// Business time between read and write, in milliseconds.
    pub work_ms: u64,
}

impl Load {
    /// Units asked for in all.
    pub fn demand(&self) -> i64 {
        self.requests as i64 * i64::from(self.quantity)
    }
}

/// One strategy under one threat, once.
#[derive(Clone)]
pub struct Round {
    /// What is on trial.
    pub strategy: Strategy,
    /// What it has to survive.
    pub threat: &'static dyn Threat,
    /// Over how many instances.
    pub instances: usize,
    /// Under which load.
    pub load: Load,
    /// Which of the repeats, from 1.
    pub repeat: u32,
}

impl Round {
    /// Whether the strategy promises to survive this. A control asks for no promise: everyone must be exact.
    pub fn is_claimed(&self) -> bool {
        self.threat.is_control() || self.strategy.claims.iter().any(|claim| claim == self.threat.name())
    }

    /// Whether the shop is asked to write down what it does. The first repeat shows how, the others how fast and how often:
    /// where buyers ask again and again for a lock, collecting a trace takes as long as the attack.
    pub fn is_traced(&self) -> bool {
        self.repeat == 1
    }
}

/// What to play.
#[derive(Clone, Debug)]
pub struct Wanted {
    /// Instance counts.
    pub instances: Vec<usize>,
    /// The load where a threat does not set its own.
    pub load: Load,
    /// How often each round is played.
    pub repeats: u32,
}

/// Lays out the rounds. Strategies alternate within a repeat, so that a machine that grows slower in the course of a
/// run does so for all of them.
pub fn rounds(strategies: &[Strategy], wanted: &Wanted) -> Vec<Round> {
    let mut rounds = Vec::new();
    for repeat in 1..=wanted.repeats {
        for threat in threats::all() {
            for instances in threat.instances(&wanted.instances) {
                rounds.extend(strategies.iter().map(|strategy| Round {
                    strategy: strategy.clone(),
                    threat,
                    instances,
                    load: threat.load(wanted.load),
                    repeat,
                }));
            }
        }
    }
    rounds
}

/// One strategy per mechanism, the first of the catalogue: enough for a quick comparison.
pub fn one_per_mechanism(catalogue: &[Strategy]) -> Vec<Strategy> {
    let mut chosen: Vec<Strategy> = Vec::new();
    for strategy in catalogue {
        if chosen.iter().all(|other| other.mechanism() != strategy.mechanism()) {
            chosen.push(strategy.clone());
        }
    }
    chosen
}
