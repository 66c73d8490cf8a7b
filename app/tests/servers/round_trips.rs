//! What a header says of a mechanism's cost is what the stores were asked, counted.

use std::collections::BTreeMap;
use std::time::Duration;

use app::domain::Outcome;
use app::strategies::Listed;

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
    let of_store = format!("({})", listed.entry.store);
    let cost = cost.split(", ").find(|cost| cost.contains(&of_store)).unwrap_or(cost);
    let (number, _) = cost.split_once(" round trip").unwrap_or_default();
    let found = WORDS.iter().position(|word| *word == number);
    found.unwrap_or_else(|| panic!("{}: the header says no \"Cost: two round trips\"", listed.entry.name))
}

/// How often one sale without contention asks a store. The seam's own test shows that what passes it is what they receive.
async fn asked(observed: &mut Observed, listed: &Listed) -> usize {
    let mut asked = 0;
    // Connections, prepared statements and scripts are made by the first one who needs them.
    for key in ["k-1", "k-2"] {
        let item = observed.sale(1).await;
        observed.since().await;
        let outcome = observed.buy(listed, &item, key, Duration::ZERO).await;
        assert!(
            matches!(outcome, Outcome::Sold { .. }),
            "{}: {outcome:?}",
            listed.entry.name
        );
        let (seen, _) = observed.since().await;
        let steps = seen.iter().filter(|seeing| seeing.by_purchase && seeing.said.is_none());
        asked = steps.filter(|seeing| !seeing.step.sends.is_empty()).count();
    }
    asked
}

#[tokio::test]
async fn the_round_trips_that_a_header_names_are_those_of_a_sale_without_contention() {
    let mut observed = Observed::start(PATIENT).await;
    let mut unguarded = BTreeMap::new();
    for listed in observed.usable() {
        if listed.entry.mechanism.name == "none" {
            let cost = asked(&mut observed, &listed).await;
            unguarded.insert(listed.entry.store, cost);
        }
    }
    for listed in observed.usable() {
        let cost = asked(&mut observed, &listed).await;
        // A guard's header names what it adds to the sale that it stands around.
        let own = if listed.entry.is_guarded() {
            cost - unguarded[listed.entry.store]
        } else {
            cost
        };
        assert_eq!(promised(&listed), own, "{}", listed.entry.name);
    }
}
