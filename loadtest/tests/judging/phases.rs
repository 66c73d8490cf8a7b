//! The phases of a lease in which a lock is lost: which strategies have them, and what is said of them.

use std::collections::HashSet;

use loadtest::audit::{Finding, Verdict};
use loadtest::phase::Phase::{self, AfterRenewal, AtWork, BeforeRenewal, BeforeWrite};
use loadtest::plan::soak::Soak;
use loadtest::plan::{Earlier, Round, Wanted, rounds};
use loadtest::report;
use loadtest::result::RoundResult;
use loadtest::result::cell::{Cell, ClaimCheck};
use loadtest::result::summary;
use loadtest::sale::Load;
use loadtest::shop::catalogue::Strategy;
use loadtest::threats;
use serde_json::json;

use crate::report::{rendered, round, run};

const SAFE: [&str; 4] = ["crowd", "second-instance", "paused-holder", "redis-restart"];

fn strategy(name: &str, family: &str, needs: &[&str], steps: &[&str]) -> Strategy {
    let lease_ms = (family == "lease-lock").then_some(1_000);
    let store = name.rsplit('@').next();
    let strategy = json!({
        "name": name, "store": store, "claims": SAFE, "family": family, "needs": needs, "steps": steps,
        "lease_ms": lease_ms,
    });
    serde_json::from_value(strategy).unwrap()
}

fn renewed(name: &str) -> Strategy {
    strategy(name, "lease-lock", &["redis", "sql"], &["lock", "renew", "release"])
}

fn plan(strategy: &Strategy, threat: &str, repeats: u32) -> Vec<Round> {
    let wanted = Wanted {
        threats: vec![threats::find(threat).unwrap()],
        instances: vec![2],
        load: Load {
            buyers: 16,
            requests: 32,
            stock: 20,
            items: 1,
            quantity: 1,
            work_ms: 1,
        },
        repeats,
    };
    rounds(std::slice::from_ref(strategy), &wanted)
}

#[test]
fn a_lock_is_lost_in_three_phases_if_it_is_renewed_in_two_if_not_and_a_strategy_without_one_in_none() {
    let fixed = |name, family| strategy(name, family, &["redis", "sql"], &["set-nx", "release"]);
    let renewals = [BeforeRenewal, AfterRenewal, BeforeWrite];
    let table: [(&str, Strategy, &[Phase]); 13] = [
        ("redis-restart", renewed("x@sql"), &renewals),
        ("redis-failover", renewed("x@sql"), &renewals),
        ("clock-jump", renewed("x@sql"), &renewals),
        ("redis-restart", fixed("x@sql", "lease-lock"), &[AtWork, BeforeWrite]),
        (
            "redis-restart",
            fixed("x@sql", "lock-without-lease"),
            &[AtWork, BeforeWrite],
        ),
        // No clock ends a lock that has no lease.
        ("clock-jump", fixed("x@sql", "lock-without-lease"), &[]),
        // Stock and lock are lost together: every phase ends alike.
        ("redis-restart", renewed("x@redis"), &[AtWork]),
        ("clock-jump", renewed("x@redis"), &renewals),
        // Nothing is lost.
        ("redis-restart-aof", renewed("x@sql"), &[AtWork]),
        ("redis-restart", fixed("x@sql", "atomic"), &[]),
        (
            "redis-restart",
            strategy("x@sql", "lease-lock", &["sql"], &["lock"]),
            &[],
        ),
        // A shop that lists no steps can delay no purchase.
        ("redis-restart", strategy("x@sql", "lease-lock", &["redis"], &[]), &[]),
        ("crowd", renewed("x@sql"), &[]),
    ];
    for (threat, strategy, expected) in table {
        let phases = (threats::find(threat).unwrap().phases)(&strategy);
        assert_eq!(phases, expected, "{threat}, {strategy:?}");
    }
}

#[test]
fn every_phase_is_a_round_of_its_own_and_always_traced() {
    let played = plan(&renewed("x@sql"), "redis-restart", 2);
    let seen: Vec<_> = played
        .iter()
        .map(|round| (round.repeat, round.phase.unwrap()))
        .collect();
    let expected = [1, 2].map(|repeat| [BeforeRenewal, AfterRenewal, BeforeWrite].map(|phase| (repeat, phase)));
    assert_eq!(seen, expected.concat());
    let told = Earlier {
        is_violated: true,
        has_story: true,
    };
    assert!(played.iter().all(|round| round.is_traced(told)));
    let alone = plan(&strategy("x@sql", "atomic", &["sql"], &["update"]), "crashed-holder", 1);
    assert_eq!(alone.iter().map(|round| round.phase).collect::<Vec<_>>(), [None]);
}

#[test]
fn a_soak_draws_every_phase_before_any_repeats_and_traces_it() {
    let possible = plan(&renewed("x@sql"), "redis-restart", 1);
    let drawn = Soak::new(2_000, Some(7)).draw(&possible);
    let first: HashSet<_> = drawn[..3]
        .iter()
        .map(|round| round.phase.unwrap().to_string())
        .collect();
    assert_eq!(first.len(), 3);
    assert!(drawn.iter().all(|round| round.is_traced(Earlier::default())));
}

/// Rounds of one strategy, each by its phase and its verdict.
type Played = &'static [(Phase, Verdict)];

/// One round for each phase and verdict, of a strategy that claims nothing.
fn played(of: &[(Phase, Verdict)]) -> Vec<RoundResult> {
    let result = |(phase, verdict): &(Phase, Verdict)| {
        let mut played = round("x@sql", "redis-restart", 2);
        (played.phase, played.verdict, played.claimed) = (Some(*phase), *verdict, false);
        let units = i64::from(*verdict == Verdict::Violated) * 3;
        played.findings.add(Finding::Oversold, units);
        played
    };
    of.iter().map(result).collect()
}

#[test]
fn the_phases_of_a_strategy_are_one_cell_that_says_which_broke_it() {
    use Verdict::{Holds, Violated};
    let table: [(Played, Option<&str>); 5] = [
        (&[(AtWork, Holds), (BeforeWrite, Holds)], None),
        (&[(AtWork, Holds), (BeforeWrite, Violated)], Some("before the write")),
        (
            &[
                (BeforeRenewal, Holds),
                (AfterRenewal, Violated),
                (BeforeWrite, Violated),
            ],
            Some("after a renewal and before the write"),
        ),
        (&[(AtWork, Violated), (BeforeWrite, Violated)], Some("in every phase")),
        (&[(AtWork, Violated)], Some("at work")),
    ];
    for (of, expected) in table {
        let run = run(played(of));
        let cells = Cell::all(&run);
        assert_eq!(cells.len(), 1, "{of:?}");
        assert_eq!(cells[0].broken_in().as_deref(), expected, "{of:?}");
    }
    let run = run(vec![round("x@sql", "crowd", 1)]);
    assert_eq!(Cell::all(&run)[0].broken_in(), None);
}

#[test]
fn a_failure_that_was_expected_is_absent_only_after_enough_rounds_of_each_phase() {
    let repeats = |times: usize| {
        let each = [(BeforeRenewal, Verdict::Holds), (BeforeWrite, Verdict::Holds)];
        let run = run(played(&each.repeat(times)));
        let cells = Cell::all(&run);
        (cells[0].repeats(), cells[0].claim_check())
    };
    assert_eq!(repeats(4), (4, ClaimCheck::Inconclusive));
    assert_eq!(repeats(5), (5, ClaimCheck::NotAsDesigned));
}

#[test]
fn the_row_the_tables_and_the_story_say_in_which_phase_a_strategy_broke() {
    let run = run(played(&[
        (BeforeRenewal, Verdict::Holds),
        (BeforeWrite, Verdict::Violated),
    ]));
    let row = &summary::rows(&run)[0];
    assert_eq!(row.happened, "15 sold of 12, Redis restarts empty, before the write");
    let [document, _] = rendered(&run);
    for said in [
        "**oversold 3** before the write, 1/2 rounds",
        "holds 1, violated 1 (before the write)",
        "`before the write`: the moments of a holder",
    ] {
        assert!(document.contains(said), "{said}: {document}");
    }
    let told = report::stories(&run);
    assert!(
        told.starts_with("## x@sql, redis-restart before the write, 2 instances"),
        "{told}"
    );
}
