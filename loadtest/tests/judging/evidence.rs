//! The orders that prove a finding, and their text in the report.

use loadtest::audit::{MOST_EVIDENCE, Verdict};
use loadtest::report;

use crate::fixture::Fixture;
use crate::report::{round, run};

#[test]
fn a_violated_round_without_a_trace_names_the_orders_that_are_wrong() {
    let mut control = Fixture::exact();
    control.unrecord("o-1");
    control.record_as("o-0", 1, Some("k-0"), "b-0");
    control.record_as("o-7", 1, Some("k-0"), "b-0");
    control.record_as("o-8", 2, None, "b-8");
    let mut violated = run(vec![round("lua@redis", "crowd", 1)]);
    violated.rounds[0].verdict = Verdict::Violated;
    violated.rounds[0].evidence = control.judge().evidence;
    let responses = report::stories(&violated);
    assert_eq!(
        responses.split_once("No trace shows it.\n").unwrap().1,
        "order o-0 (1 of b-0, key k-0): its key had bought order o-0 before
order o-7 (1 of b-0, key k-0): its key had bought order o-0 before
order o-1 (1 of b-1, key k-1): its buyer was told of it, and the ledger has no
such order
order o-8 (2 of b-8, key none): no buyer was told of it
"
    );
}

#[test]
fn the_number_of_named_orders_is_limited() {
    let mut control = Fixture::exact();
    for number in 0..100 {
        control.record_as(&format!("o-x{number:03}"), 1, None, &"b".repeat(1_000));
    }
    let evidence = control.judge().evidence;
    assert_eq!(evidence.len(), MOST_EVIDENCE);
    assert!(evidence.iter().all(|found| found.buyer.as_ref().unwrap().len() < 200));
}
