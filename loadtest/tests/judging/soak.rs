//! The rounds that a soak draws, and their sums.

use std::collections::HashSet;

use loadtest::audit::{Finding, Verdict};
use loadtest::plan::soak::{Soak, missing};
use loadtest::plan::{Earlier, Round, Wanted, rounds};
use loadtest::report::terminal_summary::screen;
use loadtest::result::soak_totals::sums;
use loadtest::sale::Load;
use loadtest::shop::catalogue::Strategy;
use loadtest::shop::response::ResponseKind;
use loadtest::threats;
use serde_json::json;

use crate::report::{round, run};

const SAFE: [&str; 4] = ["crowd", "second-instance", "paused-holder", "slow-holder"];

fn strategy(name: &str, claims: &[&str]) -> Strategy {
    let strategy = json!({
        "name": name, "store": "sql", "claims": claims, "sometimes_broken_by": ["crashed-holder"]
    });
    serde_json::from_value(strategy).unwrap()
}

/// All rounds of two strategies that sell safely, of one that does so on one instance alone, and of one that does so
/// unless a holder is delayed.
fn possible() -> Vec<Round> {
    let strategies = [
        strategy("lock@sql", &SAFE[..3]),
        strategy("lua@sql", &SAFE),
        strategy("mutex@sql", &["crowd", "paused-holder"]),
        strategy("lease@sql", &["crowd", "second-instance", "crashed-holder"]),
    ];
    let load = Load {
        buyers: 32,
        requests: 96,
        stock: 48,
        items: 1,
        quantity: 1,
        work_ms: 1,
    };
    let (threats, instances) = (threats::all().iter().collect(), vec![1, 2]);
    rounds(
        &strategies,
        &Wanted {
            threats,
            instances,
            load,
            repeats: 1,
        },
    )
}

fn drawn(purchases: u64, seed: u32) -> Vec<Round> {
    Soak::new(purchases, Some(seed)).draw(&possible())
}

fn cell(round: &Round) -> (&str, &str, usize) {
    (&round.strategy.name, round.threat.name, round.instances)
}

fn plan(rounds: &[Round]) -> Vec<String> {
    let line = |round: &Round| {
        let (strategy, threat, instances) = cell(round);
        let (purchases, repeat) = (round.load.requests, round.repeat);
        format!("{repeat}: {strategy} {threat} on {instances}, {purchases}")
    };
    rounds.iter().map(line).collect()
}

#[test]
fn a_seed_draws_the_same_plan_on_every_machine_and_another_seed_another_one() {
    let seven = plan(&drawn(200_000, 7));
    assert_eq!(seven, plan(&drawn(200_000, 7)));
    assert_ne!(seven, plan(&drawn(200_000, 8)));
    // A fixed list, so that the test shows when a new version of a crate draws other rounds.
    let expected = [
        "1: lua@sql paused-holder on 2, 277",
        "1: lock@sql second-instance on 2, 711",
        "1: lock@sql paused-holder on 2, 857",
    ];
    assert_eq!(seven[..3], expected);
}

#[test]
fn a_larger_soak_begins_like_a_smaller_one_of_the_same_seed() {
    let (small, large) = (plan(&drawn(5_000, 7)), plan(&drawn(50_000, 7)));
    assert_eq!(large[..small.len()], small);
}

#[test]
fn a_soak_draws_only_survived_threats_and_each_of_them_before_any_repeats() {
    let rounds = drawn(50_000, 7);
    let claimed: HashSet<_> = SAFE[..3]
        .iter()
        .map(|threat| ("lock@sql", *threat))
        .chain(SAFE.map(|threat| ("lua@sql", threat)))
        .collect();
    let names = |round: &Round| {
        let of = |(strategy, threat): (&str, &str)| strategy == round.strategy.name && threat == round.threat.name;
        claimed.iter().copied().find(|names| of(*names))
    };
    assert!(rounds.len() > 3 * claimed.len(), "{}", rounds.len());
    for (repeat, pass) in (1..).zip(rounds.chunks(claimed.len())) {
        let drawn: HashSet<_> = pass.iter().map(|round| names(round).unwrap()).collect();
        assert_eq!(drawn.len(), pass.len(), "{:?}", plan(pass));
        assert!(pass.iter().all(|round| round.repeat == repeat), "{:?}", plan(pass));
    }
    let orders: HashSet<_> = rounds
        .chunks_exact(claimed.len())
        .map(|pass| pass.iter().map(cell).collect::<Vec<_>>())
        .collect();
    assert!(orders.len() > 1, "each pass has an order of its own");
}

#[test]
fn the_rounds_send_the_wanted_number_of_purchases_and_no_round_is_superfluous() {
    for purchases in [1, 200, 5_000, 200_000] {
        let rounds = drawn(purchases, 7);
        let sent = |rounds: &[Round]| rounds.iter().map(|round| round.load.requests as u64).sum::<u64>();
        assert!(sent(&rounds) >= purchases, "{purchases}");
        assert!(sent(&rounds[..rounds.len() - 1]) < purchases, "{purchases}");
    }
}

#[test]
fn a_round_has_some_hundred_purchases_for_half_as_many_units_and_the_buyers_of_its_threat() {
    for round in drawn(50_000, 7) {
        let (name, load) = (round.threat.name, round.load);
        assert!((200..=1_000).contains(&load.requests), "{name}: {load:?}");
        assert_eq!(load.stock, load.requests as i64 / 2, "{name}");
        assert!(
            !round.is_traced(Earlier::default()) && !round.is_measured(),
            "{name}: for its verdict alone"
        );
        assert_eq!(
            load.buyers,
            if round.threat.injection.is_some() { 16 } else { 32 },
            "{name}"
        );
        assert!(
            load.stock > load.buyers as i64,
            "{name}: the first wave cannot sell all"
        );
    }
}

#[test]
fn a_round_of_many_items_has_units_for_half_of_its_purchases_all_items_together() {
    let claims = [&SAFE[..], &["store-silent"]].concat();
    let lock = [strategy("lock@sql", &claims)];
    let wanted = Wanted {
        threats: threats::all().iter().collect(),
        instances: vec![2],
        load: possible()[0].load,
        repeats: 1,
    };
    let drawn = Soak::new(50_000, Some(7)).draw(&rounds(&lock, &wanted));
    let many: Vec<Load> = drawn
        .iter()
        .map(|round| round.load)
        .filter(|load| load.items > 1)
        .collect();
    assert!(!many.is_empty());
    for load in many {
        let units = load.stock * load.items as i64;
        assert!(units * 2 <= load.requests as i64, "{load:?}");
        assert!(
            load.stock > (load.buyers / load.items) as i64,
            "the first wave cannot sell all: {load:?}"
        );
    }
}

#[test]
fn a_soak_without_claims_draws_no_round() {
    let soak = Soak::new(1_000, Some(7));
    assert!(soak.draw(&[]).is_empty());
    let mut unsafe_ones = possible();
    unsafe_ones.retain(|round| ["mutex@sql", "lease@sql"].contains(&round.strategy.name.as_str()));
    assert!(soak.draw(&unsafe_ones).is_empty());
}

#[test]
fn a_strategy_that_could_be_in_a_soak_and_is_missing_is_named_once() {
    let mut possible = possible();
    assert!(missing(&possible).is_empty());
    for round in &mut possible {
        round.strategy.missing = (round.strategy.name != "lua@sql").then(|| "its key was lost".to_owned());
    }
    let named = missing(&possible);
    let names: Vec<_> = named.iter().map(|round| (cell(round).0, round.in_soak)).collect();
    assert_eq!(names, [("lock@sql", true)]);
}

#[test]
fn a_soak_without_a_seed_has_one_that_is_drawn() {
    let seeds: HashSet<u32> = (0..8).map(|_| Soak::new(1, None).seed).collect();
    assert!(seeds.len() > 1, "{seeds:?}");
}

#[test]
fn the_sums_count_every_purchase_once_and_name_every_finding() {
    let mut crashed = round("lua@redis", "crashed-holder", 2);
    crashed.told = [
        (ResponseKind::Sold, 5),
        (ResponseKind::SoldOut, 4),
        (ResponseKind::Busy, 2),
        (ResponseKind::Unknown, 3),
    ]
    .into();
    crashed.facts.explained = 2;
    let mut ran = run(vec![round("lua@redis", "crowd", 1), crashed.clone()]);
    assert_eq!(sums(&ran), None, "it is no soak");
    ran.soak = Some(Soak::new(30, Some(7)));
    assert_eq!(
        sums(&ran).unwrap(),
        [
            "Soak, seed 7: 38 purchases, 2 rounds, 1 strategy, 2 threats.",
            "17 sold, 16 sold out, 2 busy, 3 unknown (2 of them recorded).",
            "0 oversold, 0 lost, 0 duplicate; 2 of 2 rounds hold.",
        ]
    );
    crashed.verdict = Verdict::Violated;
    for (finding, size) in [
        (Finding::Duplicate, 1),
        (Finding::FalseRefusal, 4),
        (Finding::Drift, -2),
    ] {
        crashed.findings.add(finding, size);
    }
    ran.rounds.push(crashed);
    assert_eq!(
        sums(&ran).unwrap()[2],
        "0 oversold, 0 lost, 1 duplicate, 4 false refusal, 2 drift; 2 of 3 rounds hold."
    );
}

#[test]
fn a_soak_is_shown_by_its_sums_and_by_no_load_or_speed_for_these_are_each_rounds_own() {
    let mut ran = run((0..300).map(|_| round("lua@redis", "second-instance", 2)).collect());
    ran.soak = Some(Soak::new(7_000, Some(u32::MAX)));
    let shown = screen(&ran, false, 80);
    let sums = sums(&ran).unwrap().join("\n");
    assert!(shown.contains(&format!("\n\n{sums}\n\n")), "{shown}");
    assert!(!shown.contains("buyers ask for"), "{shown}");
    assert!(!shown.contains("250"), "no speed: {shown}");
    assert!(
        shown.contains("300 clean rounds do not exclude a failure in up to 1.0 % of rounds."),
        "{shown}"
    );
    let widest = shown.lines().map(|line| line.chars().count()).max();
    assert!(widest <= Some(80), "{widest:?}");
    let reports = loadtest::report::all();
    let markdown = reports.iter().find(|report| report.file_name() == "result.md").unwrap();
    let rendered = markdown.render(&ran);
    assert!(
        rendered.contains("**\n\n```text\nSoak, seed 4294967295: 7200 purchases, 300 rounds, "),
        "{rendered}"
    );
}
