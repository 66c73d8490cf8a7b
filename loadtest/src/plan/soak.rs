//! A soak: a random plan. In each round a strategy meets a threat that it claims to survive, with far more purchases
//! than one failure needs. The soak ends when all rounds together have sent the purchases that were asked for.
//!
//! The plan depends only on the seed and on the possible rounds, so it is the same on every machine. The results are
//! not: the order of concurrent purchases depends on the machine.

use std::ops::RangeInclusive;

use rand::RngExt;
use rand::SeedableRng;
use rand::seq::SliceRandom;
use rand_pcg::Pcg32;
use serde::{Deserialize, Serialize};

use crate::plan::Round;
use crate::sale::Load;

/// The most purchases of a soak: the results of all its rounds are kept in memory.
pub const MAX_PURCHASES: u64 = 10_000_000;

/// The claims that a strategy needs to be in a soak. A soak keeps its machine busy for long, which delays some
/// purchases for longer than a lease. A strategy that does not survive such a delay is safe only by luck.
const SAFE: [&str; 3] = ["crowd", "second-instance", "paused-holder"];

/// The purchases of a round, unless its threat needs more. The follow-up sells the rest one at a time, to at most a
/// thousand buyers.
const PURCHASES: RangeInclusive<usize> = 200..=1_000;

/// The options of a soak.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Soak {
    /// The least number of purchases in the attacks of all rounds together.
    pub purchases: u64,
    /// The seed of the plan.
    pub seed: u32,
}

impl Soak {
    /// Creates a soak of that many purchases. The seed is drawn if none is given.
    pub fn new(purchases: u64, seed: Option<u32>) -> Self {
        Self {
            purchases,
            seed: seed.unwrap_or_else(rand::random),
        }
    }

    /// Draws a plan from the possible rounds. All rounds come once in random order, then again in another order as the
    /// next repeat. Returns no rounds if none may be in a soak.
    pub fn draw(self, possible: &[Round]) -> Vec<Round> {
        // Unlike rand's default generators, this one is the same everywhere and in every version.
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

/// Returns one round for each strategy that could be in a soak if its shop did not call it missing. The round is skipped with
/// the reason of the shop.
pub fn missing(possible: &[Round]) -> Vec<Round> {
    let mut missing: Vec<Round> = Vec::new();
    for round in safely_claimed(possible) {
        let is_new = missing.iter().all(|other| other.strategy.name != round.strategy.name);
        if round.strategy.missing.is_some() && is_new {
            missing.push(Round {
                in_soak: true,
                ..round.clone()
            });
        }
    }
    missing
}

/// Returns whether a strategy with these claims sells safely, so that it may be in a soak.
pub fn is_safe<C: AsRef<str>>(claims: &[C]) -> bool {
    SAFE.iter()
        .all(|threat| claims.iter().any(|claim| claim.as_ref() == *threat))
}

/// Returns the rounds that their strategies claim to survive, of strategies that may be in a soak. Controls are left
/// out.
fn safely_claimed(possible: &[Round]) -> Vec<&Round> {
    let rounds = possible.iter().filter(|round| !round.threat.is_control);
    let claimed = rounds.filter(|round| round.is_claimed());
    claimed.filter(|round| is_safe(&round.strategy.claims)).collect()
}

/// Returns the load with that many purchases, if these are more, and with units for half of them, so that some are sold
/// and some refused. The first wave is unchanged.
fn load(own: Load, purchases: usize) -> Load {
    let purchases = purchases.max(own.requests);
    Load {
        requests: purchases,
        stock: (purchases / 2 / own.items) as i64 * i64::from(own.quantity),
        ..own
    }
}
