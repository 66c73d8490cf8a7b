//! Every chart, compared as the whole file.

use loadtest::audit::{Finding, Verdict};
use loadtest::report::charts;
use loadtest::result::{RoundResult, RunResult};

use crate::report::{round, run};

/// A round with many buyers, played for the `repeat`th time.
fn crowd(strategy: &str, instances: usize, repeat: u32) -> RoundResult {
    let threat = if instances == 1 { "crowd" } else { "second-instance" };
    RoundResult {
        repeat,
        ..round(strategy, threat, instances)
    }
}

/// The same, with `units` oversold.
fn oversold(strategy: &str, instances: usize, repeat: u32, units: i64) -> RoundResult {
    let mut round = crowd(strategy, instances, repeat);
    if units > 0 {
        round.verdict = Verdict::Violated;
        round.findings.add(Finding::Oversold, units);
    }
    round
}

/// The same, with `sales_per_s`.
fn sells(strategy: &str, instances: usize, repeat: u32, sales_per_s: f64) -> RoundResult {
    RoundResult {
        sales_per_s,
        ..crowd(strategy, instances, repeat)
    }
}

/// One strategy that fails at once, two that fail later, one that gets stuck, and three that hold.
fn every_fate() -> RunResult {
    let mut rounds = Vec::new();
    for repeat in 1..=2 {
        let more = i64::from(repeat);
        rounds.extend((1..=3).map(|instances| oversold("none@redis", instances, repeat, 11)));
        rounds.extend(
            (1..=3).map(|instances| oversold("mutex@redis", instances, repeat, (instances as i64 - 1) * 3 * more)),
        );
        rounds.extend((1..=3).map(|instances| oversold("mutex@sql", instances, repeat, instances as i64 - 1)));
        rounds.push(sells("slow@sql", 2, repeat, 20.0 * f64::from(repeat)));
        rounds.push(sells("middle@sql", 2, repeat, 80.0));
        rounds.extend((2..=3).map(|instances| sells("fast@redis", instances, repeat, 90.0 * f64::from(repeat))));
        rounds.push(sells("setnx@redis", 2, repeat, 1_000.0));
        let mut stuck = round("setnx@redis", "crashed-holder", 2);
        stuck.verdict = Verdict::Violated;
        stuck.findings.add(Finding::Stuck, 1);
        rounds.push(stuck);
    }
    run(rounds)
}

fn drawn(name: &str, run: &RunResult) -> String {
    let all = charts::all();
    all.iter().find(|chart| chart.file_name() == name).unwrap().draw(run)
}

#[test]
fn the_chart_of_oversold_units_is_as_expected_to_the_letter() {
    let drawn = drawn("oversold.svg", &every_fate());
    assert!(drawn == include_str!("expected/oversold.svg"), "it is now:\n{drawn}");
}

#[test]
fn the_chart_of_the_cost_is_as_expected_to_the_letter() {
    let drawn = drawn("cost.svg", &every_fate());
    assert!(drawn == include_str!("expected/cost.svg"), "it is now:\n{drawn}");
}

#[test]
fn the_cost_of_a_strategy_with_one_failed_inconclusive_or_skipped_round_is_not_shown() {
    let spoilt: [fn(&mut RoundResult); 3] = [
        |round| round.verdict = Verdict::Violated,
        |round| round.verdict = Verdict::Inconclusive,
        |round| round.skipped = Some("not here".to_owned()),
    ];
    for spoil in spoilt {
        let mut one = run(vec![
            sells("lua@redis", 2, 1, 10.0),
            sells("token@redis", 2, 1, 9.0),
            round("token@redis", "crashed-holder", 2),
        ]);
        spoil(&mut one.rounds[2]);
        let drawn = drawn("cost.svg", &one);
        assert!(
            drawn.contains(">lua@redis<") && !drawn.contains("token@redis"),
            "{drawn}"
        );
        assert!(drawn.contains("1 of 2 strategies hold"), "{drawn}");
    }
}

#[test]
fn a_run_without_a_crowd_or_without_rounds_is_drawn_all_the_same() {
    for rounds in [vec![], vec![round("lua@redis", "one-buyer", 2)]] {
        let run = run(rounds);
        assert!(drawn("oversold.svg", &run).contains("Nothing was tried"));
        assert!(drawn("cost.svg", &run).contains(" strategies hold while their store keeps its data."));
    }
}

#[test]
fn a_strangers_text_cannot_end_its_element_and_stays_short() {
    let evil = "\"/></text><script>&\u{1b}[2J\u{202e}".repeat(9);
    let mut forged = run(vec![
        oversold(&evil, 2, 1, i64::MAX),
        sells(&(evil.clone() + "x"), 2, 1, 1e300),
    ]);
    forged.environment.cpu.clone_from(&evil);
    forged.started_at = evil;
    let plain = run(vec![oversold("a@redis", 2, 1, i64::MAX), sells("b@redis", 2, 1, 1e300)]);
    for chart in charts::all() {
        let (drawn, plain) = (chart.draw(&forged), chart.draw(&plain));
        assert_eq!(drawn.matches('<').count(), plain.matches('<').count(), "{drawn}");
        assert!(
            drawn.chars().all(|c| c == '\n' || c == ' ' || c.is_ascii_graphic()),
            "{drawn}"
        );
        assert!(drawn.lines().all(|line| line.len() < 400), "{drawn}");
    }
}

#[test]
fn many_strategies_make_no_endless_chart() {
    let rounds = (0..500).map(|number| sells(&format!("s{number}@redis"), 2, 1, f64::from(number)));
    let drawn = drawn("cost.svg", &run(rounds.collect()));
    assert_eq!(drawn.matches("<rect").count(), 24);
    assert!(
        drawn.contains(">500 of 500 strategies hold while their store keeps its data.<"),
        "{drawn}"
    );
    assert!(drawn.contains(">The fastest 24 of them are shown.<"), "{drawn}");
    assert!(drawn.contains(">s499@redis<") && !drawn.contains(">s475@redis<"));
}
