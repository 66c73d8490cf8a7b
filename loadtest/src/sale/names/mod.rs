//! The names that a run uses, and the business time of its purchases. Both are drawn anew for each run, in one of several
//! styles of real shops: a shop that is honest only towards a load test must not recognise one by them.

mod styles;

use serde::{Deserialize, Serialize};
use uuid::{Builder, Uuid};

use self::styles::{BUYERS, ITEMS, KEYS};

/// The longest business time that a shop has to accept, in milliseconds.
const MAX_WORK_MS: u64 = 5_000;

/// The names of one run. Everything follows from the seed, so a repeat of a purchase has its key and buyer again, and a
/// worker sends the same names as its run.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Names {
    seed: Uuid,
}

impl Names {
    /// Draws the names of a run.
    pub fn draw() -> Self {
        Self { seed: Uuid::new_v4() }
    }

    /// Returns the name of the run's `nth` item. No other run has an item of that name.
    pub fn item(&self, nth: usize) -> String {
        self.style(&ITEMS, "items")(self.bits(&format!("item {nth}")))
    }

    /// Returns the name of the buyer with that number, another one for each number below 2^32.
    pub fn buyer(&self, number: usize) -> String {
        self.style(&BUYERS, "buyers")(mixed(number as u32, self.bits("buyer") as u32))
    }

    /// Returns the idempotency key of the purchase of this item with that number.
    pub fn key(&self, item: &str, number: usize) -> String {
        self.style(&KEYS, "keys")(self.bits(&format!("key {number} {item}")))
    }

    /// Returns the business time of the purchase with that number, in milliseconds: near `asked_ms`, and `asked_ms` on
    /// average over each two purchases from an even number on.
    pub fn work_ms(&self, asked_ms: u64, number: usize) -> u64 {
        let most = (asked_ms / 4)
            .max(1)
            .min(asked_ms)
            .min(MAX_WORK_MS.saturating_sub(asked_ms));
        let bits = self.bits(&format!("work {}", number / 2));
        // A purchase without any business time is far faster than all others. Few have none, so that costs stay comparable.
        let is_as_asked = asked_ms == 1 && bits >> 64 & 7 > 2;
        let drawn = if is_as_asked {
            most
        } else {
            (bits % u128::from(2 * most + 1)) as u64
        };
        let drawn = if number.is_multiple_of(2) {
            drawn
        } else {
            2 * most - drawn
        };
        asked_ms - most + drawn
    }

    /// Returns the style of this run.
    fn style<T: Copy>(&self, styles: &[T], of: &str) -> T {
        styles[(self.bits(of) % styles.len() as u128) as usize]
    }

    /// Returns bits that look random, the same for the same words.
    fn bits(&self, words: &str) -> u128 {
        // Two ids, because each has some fixed bits.
        let [one, other] = ["a", "b"].map(|half| Uuid::new_v5(&self.seed, format!("{half} {words}").as_bytes()));
        one.as_u128() ^ other.as_u128().rotate_left(64)
    }
}

/// Returns a number that looks random, another one for each number.
fn mixed(number: u32, seed: u32) -> u32 {
    let mut mixed = number ^ seed;
    mixed = (mixed ^ mixed >> 16).wrapping_mul(0x7feb_352d);
    mixed = (mixed ^ mixed >> 15).wrapping_mul(0x846c_a68b);
    mixed ^ mixed >> 16
}

/// Returns the id that a client draws at random.
fn uuid(bits: u128) -> Uuid {
    Builder::from_random_bytes(bits.to_be_bytes()).into_uuid()
}
