//! The cost in the header of a mechanism is the number of round trips that the stores counted.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Duration;

use app::domain::Outcome;
use app::probe::WORK;
use app::stores;
use app::strategies::{Entry, Listed};

use crate::harness::PATIENT;
use crate::observed::Observed;

/// The numbers in which a header counts, from none.
const WORDS: [&str; 21] = [
    "no",
    "one",
    "two",
    "three",
    "four",
    "five",
    "six",
    "seven",
    "eight",
    "nine",
    "ten",
    "eleven",
    "twelve",
    "thirteen",
    "fourteen",
    "fifteen",
    "sixteen",
    "seventeen",
    "eighteen",
    "nineteen",
    "twenty",
];

/// The number in `Cost: two round trips`, or that of its store in `Cost: one round trip (redis), two round trips (sql)`.
fn promised(listed: &Listed) -> usize {
    let header = listed.entry.mechanism.header().replace('\n', " ");
    let (_, cost) = header.split_once("Cost: ").unwrap_or_default();
    // PostgreSQL is asked by the same statements as MariaDB, and a cluster by the same commands as Redis.
    let of_store = listed.entry.store.replace("pg", "sql").replace("cluster", "redis");
    let of_store = format!("({of_store})");
    let cost = cost.split(", ").find(|cost| cost.contains(&of_store)).unwrap_or(cost);
    let (number, _) = cost.split_once(" round trip").unwrap_or_default();
    let found = WORDS.iter().position(|word| *word == number);
    found.unwrap_or_else(|| panic!("{}: the header says no \"Cost: two round trips\"", listed.entry.name))
}

/// Whether only the steps of the store are left: the guard takes none.
fn is_unguarded(entry: &Entry) -> bool {
    let store = stores::ALL.iter().find(|store| store.name == entry.store);
    entry.is_guarded() && store.is_some_and(|store| entry.steps == [store.steps, &[WORK]].concat())
}

/// Counts the commands of one sale without contention. The test of the seam shows that the stores receive the same ones.
async fn asked(observed: &Observed, listed: &Listed) -> usize {
    let mut asked = 0;
    // The first purchase makes the connections, prepared statements and scripts.
    for key in ["k-1", "k-2"] {
        let item = observed.sale(1).await;
        observed.steps().await;
        let outcome = observed.buy(listed, &item, key, Duration::ZERO).await;
        assert!(
            matches!(outcome, Outcome::Sold { .. }),
            "{}: {outcome:?}",
            listed.entry.name
        );
        let seen = observed.steps().await;
        let steps = seen.iter().filter(|seeing| seeing.by_purchase && seeing.said.is_none());
        asked = steps.filter(|seeing| !seeing.step.sends.is_empty()).count();
    }
    asked
}

#[tokio::test]
async fn the_round_trips_that_a_header_names_are_those_of_a_sale_without_contention() {
    let observed = Observed::start(PATIENT).await;
    let mut unguarded = BTreeMap::new();
    for listed in observed.usable() {
        if is_unguarded(&listed.entry) {
            let cost = asked(&observed, &listed).await;
            unguarded.insert(listed.entry.store, cost);
        }
    }
    // A purchase from segments on several nodes costs one round trip, and five where its own segment has no unit yet.
    let is_known = |listed: &Arc<Listed>| listed.entry.name != "segmented@cluster";
    for listed in observed.usable().into_iter().filter(is_known) {
        let cost = asked(&observed, &listed).await;
        // The header of a guard names the round trips that it adds to the sale.
        let own = if listed.entry.is_guarded() {
            cost - unguarded[listed.entry.store]
        } else {
            cost
        };
        assert_eq!(promised(&listed), own, "{}", listed.entry.name);
    }
}
