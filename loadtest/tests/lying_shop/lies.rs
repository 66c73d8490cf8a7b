//! Every lie of the shop is tried, and must be found.

use std::time::Duration;

use loadtest::audit::Verdict;
use loadtest::sale::Load;

use crate::apart::APART;
use crate::classes::{
    AFTERWARDS, CLASSIC, CROWD, FAULTS, FIRST_SALE, IDENTITY, IN_SEGMENTS, LEDGERS, NO_TEST, NUMBERS, RECOGNISED, Row,
    SHUT, TOO_EARLY, TWICE, UNSEEN, WHOSE, WIRE,
};
use crate::expected::{Expected, check, shown};
use crate::runner::{LOAD, Trial, TrialRunner, known, try_each};
use crate::segments::SEGMENTS;

/// Lies that do no harm: the endless bodies are never read, busy buyers retry, and a sale that stays open changes no
/// verdict.
const HARMLESS: &[&str] = &[
    "endless-readyz",
    "endless-admin",
    "sells-one-then-busy",
    "never-closes",
    "refuses-to-close",
    "closes-slowly",
];

#[test]
fn every_lie_of_the_shop_is_tried() {
    let classes = [
        CLASSIC,
        AFTERWARDS,
        WHOSE,
        TWICE,
        RECOGNISED,
        NO_TEST,
        TOO_EARLY,
        FAULTS,
        IDENTITY,
        UNSEEN,
        SHUT,
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
fn classic_lies_are_found() {
    each_is_found(CLASSIC);
}

#[test]
fn ledgers_that_are_right_at_one_time_and_wrong_at_another_are_found() {
    each_is_found(AFTERWARDS);
}

#[test]
fn orders_that_differ_from_the_answers_are_found() {
    each_is_found(WHOSE);
}

#[test]
fn keys_that_buy_twice_or_are_forgotten_are_found() {
    each_is_found(TWICE);
}

#[test]
fn a_shop_that_is_honest_only_towards_a_load_test_is_found() {
    each_is_found(RECOGNISED);
}

#[test]
fn rounds_that_prove_nothing_are_no_pass() {
    each_is_found(NO_TEST);
}

#[test]
fn a_sold_out_answer_while_units_are_left_is_found() {
    each_is_found(TOO_EARLY);
}

#[test]
fn faults_that_a_shop_changes_or_ignores_are_found() {
    each_is_found(FAULTS);
}

#[test]
fn names_and_silences_that_are_false_are_no_pass() {
    each_is_found(IDENTITY);
}

#[test]
fn lies_where_few_look_are_found() {
    each_is_found(UNSEEN);
}

#[test]
fn ledgers_that_nobody_can_read_while_buyers_come_are_no_pass() {
    // Each of these leaves a store behind that nobody else can use.
    SHUT.chunks(1).for_each(each_is_found);
}

#[test]
fn a_second_play_hides_no_finding_of_the_first() {
    each_is_found(FIRST_SALE);
}

#[test]
fn segments_with_a_wrong_sum_are_found() {
    each_is_found(IN_SEGMENTS);
}

#[test]
fn numbers_out_of_range_are_found() {
    each_is_found(NUMBERS);
}

#[test]
fn answers_and_catalogues_without_end_are_no_pass() {
    each_is_found(WIRE);
}

#[test]
fn ledgers_that_cannot_be_read_are_found() {
    each_is_found(LEDGERS);
}

#[test]
fn harmless_lies_are_not_accused() {
    let runner = TrialRunner::open();
    for lie in HARMLESS {
        let tried = runner.try_shop(&trial(lie, CROWD));
        let verdicts: Vec<Verdict> = tried.run.rounds.iter().map(|round| round.verdict).collect();
        assert_eq!((tried.error, verdicts), (None, vec![Verdict::Holds; 2]), "{lie}");
    }
}

#[test]
fn sales_that_stay_open_are_named_and_the_verdicts_are_kept() {
    let tried = TrialRunner::open().try_shop(&trial("oversells-and-never-closes", CROWD));
    let verdicts: Vec<Verdict> = tried.run.rounds.iter().map(|round| round.verdict).collect();
    let ended = (tried.error.clone(), tried.run.ended_early.clone());
    assert_eq!(
        (ended, verdicts),
        ((None, None), vec![Verdict::Violated; 2]),
        "{}",
        shown(&tried)
    );
    assert_eq!(tried.left_open.len(), 2);
    for (item, why) in &tried.left_open {
        assert!(why.contains("answered 500"), "{item}: {why}");
    }
}

#[test]
fn a_run_that_takes_longer_than_its_plan_allows_ends_with_the_verdicts_that_are_kept() {
    let mut runner = TrialRunner::open();
    // The sales may be closed within a minute of these.
    runner.within = Some(Duration::from_secs(63));
    let tried = runner.try_shop(&trial("hangs", CROWD));
    let ended = tried.run.ended_early.clone().unwrap_or_default();
    assert!(
        ended.contains("it took longer than 2 min, the most that its plan allows"),
        "{}",
        shown(&tried)
    );
    assert_eq!(tried.left_open, []);
}

#[test]
fn a_shop_that_fails_now_and_then_is_not_stuck() {
    let mut trial = trial("panics", CROWD);
    // More units than the attack can buy: in the end buyers arrive one at a time, and some of them get no answer.
    trial.load = Load { stock: 40, ..LOAD };
    let tried = TrialRunner::open().try_shop(&trial);
    let checked = check(&tried, &Expected::Doubted("got no clear response"));
    assert_eq!(checked, Ok(()), "{}", shown(&tried));
    let sold_out = tried.run.rounds.iter().map(|round| round.facts.stock_left);
    assert_eq!(sold_out.collect::<Vec<_>>(), [Some(0); 2], "{}", shown(&tried));
}

fn trial<'a>(lie: &'a str, threats: &'a [&'a str]) -> Trial<'a> {
    let load = match lie {
        // This shop lies only to purchases with work time.
        "honest-without-work" => Load { work_ms: 5, ..LOAD },
        // Most of the purchases have the work time that was asked for.
        "honest-to-one-ms" | "honest-to-steady-work" => Load {
            requests: 96,
            stock: 48,
            work_ms: if lie == "honest-to-one-ms" { 1 } else { 8 },
            ..LOAD
        },
        // These two go wrong only where a purchase comes in the middle of another one.
        "unlocked" | "sold-out-while-locked" => Load { work_ms: 50, ..LOAD },
        // These lie only where several items are sold at once.
        _ if lie.contains("market") => Load {
            requests: 20 * 3,
            // Of three of these lies each unit needs three deliveries, with a pause of a second between them.
            stock: 2,
            items: 3,
            work_ms: 5,
            ..LOAD
        },
        // Enough purchases are under way when an instance seems to die.
        _ if IDENTITY.iter().any(|(identity, ..)| *identity == lie) => Load {
            buyers: 12,
            requests: 36,
            ..LOAD
        },
        // Each unit needs three deliveries, with a pause of a second between them.
        "sells-alone-only" => Load { stock: 2, ..LOAD },
        _ => LOAD,
    };
    Trial {
        lie,
        threats,
        instances: 2,
        load,
        // On a busy machine few buyers are answered during a pause, and their names may all be the right ones by chance.
        repeats: if lie.starts_with("names-by-") { 2 } else { 1 },
    }
}

/// Tries each lie of a class, and reports all wrong results at once.
fn each_is_found(class: &[Row]) {
    let wrong = try_each(class, |runner, (lie, threats, expected)| {
        let tried = runner.try_shop(&trial(lie, threats));
        let checked = check(&tried, expected);
        checked.map_err(|why| format!("{lie}: {why}\n{}", shown(&tried))).err()
    });
    let wrong: Vec<String> = wrong.into_iter().flatten().collect();
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}
