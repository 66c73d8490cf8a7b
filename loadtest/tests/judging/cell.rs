//! The joint result of the repeats of one trial.

use loadtest::audit::Verdict::{self, Holds, Inconclusive, Violated};
use loadtest::result::cell::{Cell, ClaimCheck, Spread, claim_check, upper_bound_95};
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

fn not_playable(strategy: &str) -> Vec<RoundResult> {
    let not_playable = Some("it needs Redis".to_owned());
    vec![RoundResult {
        not_playable,
        ..round(strategy, "redis-restart", 2)
    }]
}

#[test]
fn either_verdict_is_as_designed_where_a_strategy_is_sometimes_broken_or_undeclared() {
    let table: [(&[Verdict], ClaimCheck); 4] = [
        (&[Holds, Holds, Holds, Holds, Holds], ClaimCheck::AsDesigned),
        (&[Violated, Inconclusive], ClaimCheck::AsDesigned),
        (&[Holds, Inconclusive], ClaimCheck::AsDesigned),
        (&[Inconclusive, Inconclusive], ClaimCheck::Inconclusive),
    ];
    for (verdicts, expected) in table {
        for (sometimes_broken, undeclared) in [(true, false), (false, true)] {
            let mut rounds = trial("x@sql", false, verdicts);
            for round in &mut rounds {
                (round.sometimes_broken, round.undeclared) = (sometimes_broken, undeclared);
            }
            assert_eq!(claim_check(&run(rounds)), expected, "{verdicts:?}");
        }
    }
}

#[test]
fn a_claim_stands_or_falls_with_all_its_repeats() {
    let table: [(bool, &[Verdict], ClaimCheck); 13] = [
        (true, &[Holds, Holds, Holds], ClaimCheck::AsDesigned),
        (true, &[Holds, Violated, Holds], ClaimCheck::NotAsDesigned),
        (true, &[Violated], ClaimCheck::NotAsDesigned),
        (true, &[Holds, Inconclusive], ClaimCheck::Inconclusive),
        (true, &[Inconclusive], ClaimCheck::Inconclusive),
        (true, &[Violated, Inconclusive], ClaimCheck::NotAsDesigned),
        (false, &[Violated, Violated], ClaimCheck::AsDesigned),
        (false, &[Holds, Violated], ClaimCheck::AsDesigned),
        (false, &[Violated, Inconclusive], ClaimCheck::AsDesigned),
        (false, &[Holds, Holds], ClaimCheck::Inconclusive),
        (false, &[Holds, Holds, Holds, Holds, Holds], ClaimCheck::NotAsDesigned),
        (false, &[Holds, Inconclusive], ClaimCheck::Inconclusive),
        (false, &[Inconclusive], ClaimCheck::Inconclusive),
    ];
    for (claimed, verdicts, expected) in table {
        let run = run(trial("x@sql", claimed, verdicts));
        let cells = Cell::all(&run);
        assert_eq!(cells.len(), 1);
        assert_eq!(cells[0].claim_check(), expected, "claimed {claimed}, {verdicts:?}");
        assert_eq!(claim_check(&run), expected, "claimed {claimed}, {verdicts:?}");
    }
}

#[test]
fn a_promise_of_which_some_repeats_were_skipped_is_undecided_unless_it_was_broken() {
    let table = [
        (true, Holds, ClaimCheck::Inconclusive),
        (true, Violated, ClaimCheck::NotAsDesigned),
        (false, Violated, ClaimCheck::AsDesigned),
    ];
    for (claimed, verdict, expected) in table {
        let rounds = [trial("x@sql", claimed, &[verdict]), skipped("x@sql")].concat();
        assert_eq!(claim_check(&run(rounds)), expected, "claimed {claimed}, {verdict:?}");
    }
}

#[test]
fn the_worst_cell_decides_the_result_of_a_run() {
    let good = || trial("good@sql", true, &[Holds]);
    let bad = || trial("bad@sql", true, &[Violated]);
    let unclear = || trial("unclear@sql", true, &[Inconclusive]);
    let table = [
        ("all good", vec![good()], Some(true)),
        ("one bad", vec![good(), bad()], Some(false)),
        ("one unclear", vec![good(), unclear()], None),
        ("bad and unclear", vec![unclear(), bad(), good()], Some(false)),
        ("one skipped", vec![skipped("later@sql"), good()], None),
        ("one skipped, one bad", vec![skipped("later@sql"), bad()], Some(false)),
        ("all skipped", vec![skipped("later@sql")], None),
        ("one not playable", vec![not_playable("never@sql"), good()], Some(true)),
        (
            "one not playable, one bad",
            vec![not_playable("never@sql"), bad()],
            Some(false),
        ),
        (
            "one not playable, one skipped",
            vec![not_playable("never@sql"), skipped("later@sql"), good()],
            None,
        ),
        ("none playable", vec![not_playable("never@sql")], None),
        ("nothing", vec![], None),
    ];
    for (name, rounds, expected) in table {
        let run: RunResult = run(rounds.concat());
        assert_eq!(claim_check(&run).as_designed(), expected, "{name}");
    }
}

#[test]
fn a_run_that_ended_early_is_no_success() {
    for (verdict, expected) in [(Holds, ClaimCheck::Inconclusive), (Violated, ClaimCheck::NotAsDesigned)] {
        let mut run = run(trial("x@sql", true, &[verdict]));
        run.ended_early = Some("after 1 of 9 rounds".to_owned());
        assert_eq!(claim_check(&run), expected);
    }
}

#[test]
fn a_cell_is_one_strategy_under_one_threat_on_one_number_of_instances() {
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
fn the_upper_bound_on_unseen_violations_falls_with_the_rounds() {
    for (rounds, percent) in [(1, 95.0), (3, 63.2), (5, 45.1), (20, 13.9), (60, 4.9)] {
        let bound = upper_bound_95(rounds) * 100.0;
        assert!((bound - percent).abs() < 0.05, "{rounds} rounds: {bound}");
    }
}
