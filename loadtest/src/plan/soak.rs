//! A soak: a random plan. Each of its rounds is something that a strategy claims to survive, with far more purchases than it
//! takes to see one failure, until all of them together send as many as were asked for.
//!
//! The plan follows from the seed and from what can be played: the same on every machine. What comes of it does not: whose
//! purchase is the first one is up to the machine.

use std::ops::RangeInclusive;

use rand::RngExt;
use rand::SeedableRng;
use rand::seq::SliceRandom;
use rand_pcg::Pcg32;
use serde::{Deserialize, Serialize};

use crate::plan::Round;
use crate::sale::Load;

/// The most purchases that a soak may be asked for: the results of all its rounds are kept in memory.
pub const MAX_PURCHASES: u64 = 10_000_000;

/// What a strategy has to claim to be in it. A soak keeps its machine busy for long, and now and then that holds a purchase up
/// for longer than a lease: who does not survive this sells safely by luck.
const SAFE: [&str; 3] = ["crowd", "second-instance", "paused-holder"];

/// Purchases of a round. The first wave of a threat, during which something breaks, has 16 of them at most; and what is left
/// when all have their answers is sold one at a time, to no more than a thousand buyers.
const PURCHASES: RangeInclusive<usize> = 200..=1_000;

/// What was asked for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Soak {
    /// Purchases that the attacks of all rounds send together, at least.
    pub purchases: u64,
    /// What the plan is drawn from.
    pub seed: u32,
}

impl Soak {
    /// A soak of that many purchases, from a seed that is drawn where none is given.
    pub fn new(purchases: u64, seed: Option<u32>) -> Self {
        Self {
            purchases,
            seed: seed.unwrap_or_else(rand::random),
        }
    }

    /// Draws a plan from the rounds that can be played. All that may be in it come in random order; once each was there, they
    /// come in another one, as the next repeat. Empty where none may be in it.
    pub fn draw(self, possible: &[Round]) -> Vec<Round> {
        // Unlike the generators that rand chooses by itself, this one is the same everywhere and in every version.
        let mut random = Pcg32::seed_from_u64(self.seed.into());
        let mut claimed = safely_claimed(possible);
        let (mut rounds, mut purchases, mut repeat) = (Vec::new(), 0, 0);
        while purchases < self.purchases && !claimed.is_empty() {
            repeat += 1;
            claimed.shuffle(&mut random);
            for &round in &claimed {
                if purchases >= self.purchases {
                    break;
                }
                let load = load(round.load, random.random_range(PURCHASES));
                purchases += load.requests as u64;
                rounds.push(Round {
                    load,
                    repeat,
                    in_soak: true,
                    ..round.clone()
                });
            }
        }
        rounds
    }
}

/// Whether who claims this sells safely, so that its strategy may be in a soak.
pub fn is_safe<C: AsRef<str>>(claims: &[C]) -> bool {
    SAFE.iter()
        .all(|threat| claims.iter().any(|claim| claim.as_ref() == *threat))
}

/// The rounds that their strategies claim to survive, where these may be in a soak. Controls are no threats.
fn safely_claimed(possible: &[Round]) -> Vec<&Round> {
    let rounds = possible.iter().filter(|round| !round.threat.is_control);
    let claimed = rounds.filter(|round| round.is_claimed());
    claimed.filter(|round| is_safe(&round.strategy.claims)).collect()
}

/// The same with that many purchases, if these are more, the first wave unchanged, and units for half of them: some are sold, some
/// are refused.
fn load(own: Load, purchases: usize) -> Load {
    let purchases = purchases.max(own.requests);
    Load {
        requests: purchases,
        stock: (purchases / 2 / own.items) as i64 * i64::from(own.quantity),
        ..own
    }
}
