//! Every lie that the shop knows is tried, and seen through.

use loadtest::audit::Verdict;
use loadtest::sale::Load;

use crate::apart::APART;
use crate::classes::{
    AFTERWARDS, CLASSIC, CROWD, FAULTS, FIRST_SALE, IN_SEGMENTS, LEDGERS, NO_TEST, NUMBERS, Row, TOO_EARLY, TWICE,
    WHOSE, WIRE,
};
use crate::expected::{Expected, check, shown};
use crate::runner::{LOAD, Trial, TrialRunner, known};
use crate::segments::SEGMENTS;

/// Nothing is wrong with these: what never ends is a body that is not read, and who is told to wait comes again.
const HARMLESS: &[&str] = &["endless-readyz", "endless-admin", "sells-one-then-busy"];

#[test]
fn every_lie_that_the_shop_knows_is_tried() {
    let classes = [
        CLASSIC,
        AFTERWARDS,
        WHOSE,
        TWICE,
        NO_TEST,
        TOO_EARLY,
        FAULTS,
        FIRST_SALE,
        IN_SEGMENTS,
        NUMBERS,
        WIRE,
        LEDGERS,
    ];
    let rows = classes.into_iter().flatten().map(|(name, ..)| *name);
    let mut tried: Vec<&str> = rows
        .chain(HARMLESS.iter().copied())
        .chain([APART, SEGMENTS].concat())
        .collect();
    tried.sort_unstable();
    let known = known();
    let lies = known.iter().filter(|(kind, _)| kind == "lie");
    let mut known: Vec<&str> = lies.map(|(_, name)| name.as_str()).collect();
    known.sort_unstable();
    assert_eq!(tried, known);
}

#[test]
fn what_every_witness_must_see() {
    each_is_found(CLASSIC);
}

#[test]
fn ledgers_that_are_right_at_one_moment_and_wrong_at_another() {
    each_is_found(AFTERWARDS);
}

#[test]
fn orders_that_are_not_those_that_were_told() {
    each_is_found(WHOSE);
}

#[test]
fn keys_that_buy_twice_or_are_not_known_again() {
    each_is_found(TWICE);
}

#[test]
fn rounds_that_are_no_test() {
    each_is_found(NO_TEST);
}

#[test]
fn sold_out_told_too_early() {
    each_is_found(TOO_EARLY);
}

#[test]
fn faults_that_are_injected_otherwise_or_not_at_all() {
    each_is_found(FAULTS);
}

#[test]
fn a_second_play_hides_nothing_that_the_first_one_showed() {
    each_is_found(FIRST_SALE);
}

#[test]
fn segments_that_do_not_add_up() {
    each_is_found(IN_SEGMENTS);
}

#[test]
fn numbers_that_fit_nowhere() {
    each_is_found(NUMBERS);
}

#[test]
fn answers_and_catalogues_that_are_too_much() {
    each_is_found(WIRE);
}

#[test]
fn ledgers_that_cannot_be_read() {
    each_is_found(LEDGERS);
}

#[test]
fn what_is_only_odd_is_not_accused() {
    let runner = TrialRunner::open();
    for lie in HARMLESS {
        let tried = runner.try_shop(&trial(lie, CROWD));
        let verdicts: Vec<Verdict> = tried.run.rounds.iter().map(|round| round.verdict).collect();
        assert_eq!((tried.error, verdicts), (None, vec![Verdict::Holds; 2]), "{lie}");
    }
}

#[test]
fn a_shop_that_fails_now_and_then_is_not_stuck() {
    let mut trial = trial("panics", CROWD);
    // More than the attack can buy: in the end buyers come one at a time, and some of them get no answer.
    trial.load = Load { stock: 40, ..LOAD };
    let tried = TrialRunner::open().try_shop(&trial);
    let checked = check(&tried, &Expected::Doubted("got no clear response"));
    assert_eq!(checked, Ok(()), "{}", shown(&tried));
    let sold_out = tried.run.rounds.iter().map(|round| round.facts.stock_left);
    assert_eq!(sold_out.collect::<Vec<_>>(), [Some(0); 2], "{}", shown(&tried));
}

fn trial<'a>(lie: &'a str, threats: &'a [&'a str]) -> Trial<'a> {
    // It lies only to those who leave it time to.
    let work_ms = u64::from(lie == "honest-without-work");
    Trial {
        lie,
        threats,
        instances: 2,
        load: Load { work_ms, ..LOAD },
    }
}

/// Tries each lie of a class and says of all at once where the witness was wrong.
fn each_is_found(class: &[Row]) {
    let runner = TrialRunner::open();
    let mut wrong = Vec::new();
    for (lie, threats, expected) in class {
        if matches!(expected, Expected::TooLong) {
            continue;
        }
        let tried = runner.try_shop(&trial(lie, threats));
        if let Err(why) = check(&tried, expected) {
            wrong.push(format!("{lie}: {why}\n{}", shown(&tried)));
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}
