//! What the repeats of one trial say together.

use loadtest::audit::Verdict::{self, Holds, Inconclusive, Violated};
use loadtest::cell::{Cell, Spread, Standing, standing, upper_bound_95};
use loadtest::result::{RoundResult, RunResult};

use crate::report::{round, run};

fn trial(strategy: &str, claimed: bool, verdicts: &[Verdict]) -> Vec<RoundResult> {
    let repeat = |verdict: &Verdict| RoundResult {
        claimed,
        verdict: *verdict,
        ..round(strategy, "crowd", 1)
    };
    verdicts.iter().map(repeat).collect()
}

fn skipped(strategy: &str) -> Vec<RoundResult> {
    let skipped = Some("no server".to_owned());
    vec![RoundResult {
        skipped,
        ..round(strategy, "crowd", 1)
    }]
}

#[test]
fn a_claim_stands_or_falls_with_all_its_repeats() {
    let table: [(bool, &[Verdict], Standing); 12] = [
        (true, &[Holds, Holds, Holds], Standing::AsDesigned),
        (true, &[Holds, Violated, Holds], Standing::NotAsDesigned),
        (true, &[Violated], Standing::NotAsDesigned),
        (true, &[Holds, Inconclusive], Standing::Inconclusive),
        (true, &[Inconclusive], Standing::Inconclusive),
        (true, &[Violated, Inconclusive], Standing::NotAsDesigned),
        (false, &[Violated, Violated], Standing::AsDesigned),
        (false, &[Holds, Violated], Standing::AsDesigned),
        (false, &[Violated, Inconclusive], Standing::AsDesigned),
        (false, &[Holds, Holds], Standing::NotAsDesigned),
        (false, &[Holds, Inconclusive], Standing::Inconclusive),
        (false, &[Inconclusive], Standing::Inconclusive),
    ];
    for (claimed, verdicts, expected) in table {
        let run = run(trial("x@sql", claimed, verdicts));
        let cells = Cell::all(&run);
        assert_eq!(cells.len(), 1);
        assert_eq!(cells[0].standing(), expected, "claimed {claimed}, {verdicts:?}");
        assert_eq!(standing(&run), expected, "claimed {claimed}, {verdicts:?}");
    }
}

#[test]
fn a_run_is_as_good_as_its_worst_cell() {
    let good = || trial("good@sql", true, &[Holds]);
    let bad = || trial("bad@sql", true, &[Violated]);
    let unclear = || trial("unclear@sql", true, &[Inconclusive]);
    let table = [
        ("all good", vec![good()], Some(true)),
        ("one bad", vec![good(), bad()], Some(false)),
        ("one unclear", vec![good(), unclear()], None),
        ("bad and unclear", vec![unclear(), bad(), good()], Some(false)),
        ("one skipped", vec![skipped("later@sql"), good()], Some(true)),
        ("all skipped", vec![skipped("later@sql")], None),
        ("nothing", vec![], None),
    ];
    for (name, rounds, expected) in table {
        let run: RunResult = run(rounds.concat());
        assert_eq!(standing(&run).as_designed(), expected, "{name}");
    }
}

#[test]
fn a_cell_is_one_strategy_under_one_threat_on_so_many_instances() {
    let rounds = [
        round("a@sql", "crowd", 1),
        round("b@sql", "crowd", 1),
        round("a@sql", "second-instance", 2),
        round("a@sql", "crowd", 1),
        round("a@sql", "second-instance", 3),
    ];
    let run = run([rounds.to_vec(), skipped("a@sql"), skipped("c@sql")].concat());
    let cells = Cell::all(&run);
    let seen: Vec<_> = cells
        .iter()
        .map(|cell| (cell.strategy, cell.threat, cell.instances, cell.rounds.len()))
        .collect();
    let expected = [
        ("a@sql", "crowd", 1, 2),
        ("b@sql", "crowd", 1, 1),
        ("a@sql", "second-instance", 2, 1),
        ("a@sql", "second-instance", 3, 1),
        ("c@sql", "crowd", 1, 0),
    ];
    assert_eq!(seen, expected);
}

#[test]
fn a_spread_is_the_median_with_both_ends() {
    let of = |values: &[f64]| Spread::of(values.iter().copied()).map(|all| (all.median, all.min, all.max));
    assert_eq!(of(&[]), None);
    assert_eq!(of(&[7.0]), Some((7.0, 7.0, 7.0)));
    assert_eq!(of(&[9.0, 1.0, 4.0]), Some((4.0, 1.0, 9.0)));
    assert_eq!(of(&[9.0, 1.0, 4.0, 5.0]), Some((4.5, 1.0, 9.0)));
    assert_eq!(of(&[-2.0, -10.0]), Some((-6.0, -10.0, -2.0)));
}

#[test]
fn the_bound_on_what_was_not_seen_falls_with_the_rounds() {
    for (rounds, percent) in [(1, 95.0), (3, 63.2), (5, 45.1), (20, 13.9), (60, 4.9)] {
        let bound = upper_bound_95(rounds) * 100.0;
        assert!((bound - percent).abs() < 0.05, "{rounds} rounds: {bound}");
    }
}
