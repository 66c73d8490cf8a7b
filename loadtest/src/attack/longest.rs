//! The longest time of an attack, by its load. A shop may answer each purchase as late as its buyer waits.

use std::time::Duration;

use super::repeats::{MOST_DELIVERIES, MOST_READINGS};
use super::running::{MOST_RETURNS, RETURN_AFTER};
use crate::facts::{READ_WITHIN, READINGS_AT_ONCE};
use crate::sale::Load;
use crate::shop::ANSWER_WITHIN;

/// The longest time until all buyers are at the gate.
const GATHERED_WITHIN: Duration = Duration::from_secs(10);

/// The longest time of a fault, until the shop is healed.
const FAULT_WITHIN: Duration = Duration::from_secs(180);

/// Returns the longest time of an attack with that load.
///
/// Buyers take the next purchase as soon as they are free. So all of them are at work until the last purchase begins,
/// and the time is at most the work of all divided by the buyers, and the longest work of one. Some readings wait for others.
pub fn longest(load: &Load, one_at_a_time: bool, has_fault: bool) -> Duration {
    let [requests, items, buyers] = [load.requests, load.items, load.buyers.max(1)].map(|number| number as u32);
    let patience = ANSWER_WITHIN + Duration::from_millis(load.work_ms);
    let deliveries = requests + items * MOST_DELIVERIES as u32;
    // A control is read after each sale, and once more when it is over.
    let readings = if one_at_a_time {
        requests + 1
    } else {
        items * MOST_READINGS as u32
    };
    let readers = buyers.min(READINGS_AT_ONCE as u32);
    let work = deliveries * patience / buyers + readings * READ_WITHIN / readers;
    // All buyers return to each item, and each takes the next purchase as soon as it is free.
    let returns = MOST_RETURNS as u32 * (RETURN_AFTER + items * patience);
    // A sold purchase may be sent again three times, one after the other.
    let last = 4 * patience + READ_WITHIN;
    let fault = if has_fault { FAULT_WITHIN } else { Duration::ZERO };
    GATHERED_WITHIN + work + last + returns + fault
}

#[cfg(test)]
mod tests {
    use super::*;

    const LOAD: Load = Load {
        buyers: 4,
        requests: 24,
        stock: 12,
        items: 1,
        quantity: 1,
        work_ms: 0,
    };

    #[test]
    fn the_longest_attack_follows_from_its_purchases_and_buyers() {
        let table = [
            // 24 purchases and 8 more deliveries of 10 s, and 6 readings, by 4 buyers; one purchase with all that may follow it;
            // 3 returns.
            (LOAD, false, 10_000 + 350_000 / 4 + 45_000 + 33_000),
            (
                Load { buyers: 24, ..LOAD },
                false,
                10_000 + 320_000 / 24 + 30_000 / 16 + 45_000 + 33_000,
            ),
            (
                Load { items: 8, ..LOAD },
                false,
                10_000 + 1_120_000 / 4 + 45_000 + 243_000,
            ),
            (
                Load { work_ms: 5_000, ..LOAD },
                false,
                10_000 + 510_000 / 4 + 65_000 + 48_000,
            ),
            // The ledger is read after each sale of one buyer.
            (Load { buyers: 1, ..LOAD }, true, 10_000 + 445_000 + 45_000 + 33_000),
        ];
        for (load, one_at_a_time, ms) in table {
            assert_eq!(longest(&load, one_at_a_time, false).as_millis(), ms, "{load:?}");
            let with_fault = longest(&load, one_at_a_time, true);
            assert_eq!(with_fault.as_millis(), ms + 180_000, "{load:?}");
        }
    }
}
