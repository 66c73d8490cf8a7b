//! Honest shops of many kinds: the witness must accuse none of them.

use loadtest::audit::Verdict;
use loadtest::result::RoundResult;
use loadtest::result::cell::{ClaimCheck, claim_check};
use loadtest::sale::Load;
use loadtest::shop::response::ResponseKind;

use crate::runner::{LOAD, Trial, TrialRunner, known, try_each};

const EVERY_THREAT: &[&str] = &["one-buyer", "crowd", "second-instance", "crashed-holder"];

fn honest(lie: &str) -> Trial<'_> {
    Trial {
        lie,
        threats: EVERY_THREAT,
        // This shop is tried without nginx, so it has one instance.
        instances: if lie == "closes-connections" { 1 } else { 2 },
        load: LOAD,
        repeats: 1,
    }
}

/// Returns strategy and threat, with the units of the answers sold and sold out, recorded, and left.
fn numbers(round: &RoundResult) -> (&str, &str, [i64; 4]) {
    let facts = &round.facts;
    let told = [ResponseKind::Sold, ResponseKind::SoldOut].map(|kind| round.units(kind));
    let all = [told[0], told[1], facts.recorded, facts.stock_left.unwrap()];
    (&round.strategy, &round.threat, all)
}

#[test]
fn no_honest_shop_is_accused_and_each_holds_under_every_threat() {
    let kinds: Vec<_> = known().into_iter().filter(|(kind, _)| kind == "honest").collect();
    try_each(&kinds, |runner, (_, name)| {
        assert_holds_under_every_threat(runner, name)
    });
}

fn assert_holds_under_every_threat(runner: &TrialRunner, name: &str) {
    let tried = runner.try_shop(&honest(name));
    assert_eq!(tried.error, None, "{name}");
    assert!(tried.run.rounds.len() >= 4, "{name}");
    for round in &tried.run.rounds {
        let shown = (round.verdict, round.findings.named(), round.inconclusive.as_deref());
        assert_eq!(shown, (Verdict::Holds, vec![], None), "{name}: {round:?}");
        // A killed holder may leave a lock behind for as long as the attack lasts: then only the buyers after it buy.
        let may_sell_nothing = round.threat == "crashed-holder";
        assert!(round.sales_per_s > 0.0 || may_sell_nothing, "{name}: {round:?}");
        // None of them writes a trace.
        assert_eq!(round.findings.overlap, None, "{name}: {round:?}");
        assert_eq!((round.longest_wait_us, round.jain), (None, None), "{name}: {round:?}");
    }
    assert_eq!(claim_check(&tried.run), ClaimCheck::AsDesigned, "{name}");
    // The modest shop claims nothing: all its rounds but the control are undeclared.
    for round in tried.run.rounds.iter().filter(|round| round.threat != "one-buyer") {
        assert_eq!(round.undeclared, name == "modest", "{name}: {round:?}");
    }
}

#[test]
fn no_honest_shop_is_accused_after_it_stood_still() {
    let kinds = ["plain", "fail-fast", "waits", "slow-admin", "read-committed"];
    try_each(&kinds, |runner, name| {
        let trial = Trial {
            threats: &["paused-holder"],
            load: Load {
                buyers: 12,
                requests: 36,
                ..LOAD
            },
            ..honest(name)
        };
        let tried = runner.try_shop(&trial);
        assert_eq!((tried.error, tried.run.rounds.len()), (None, 2), "{name}");
        for round in &tried.run.rounds {
            let shown = (round.verdict, round.findings.named(), round.inconclusive.as_deref());
            assert_eq!(shown, (Verdict::Holds, vec![], None), "{name}: {round:?}");
        }
    });
}

#[test]
fn an_honest_shop_holds_with_exact_numbers() {
    let tried = TrialRunner::open().try_shop(&honest("plain"));
    let expected = [
        ("lie@redis", "one-buyer", [12, 6, 12, 0]),
        ("lie@sql", "one-buyer", [12, 6, 12, 0]),
        ("lie@redis", "second-instance", [12, 14, 12, 0]),
        ("lie@sql", "second-instance", [12, 14, 12, 0]),
    ];
    let rounds = tried.run.rounds.iter().filter(|round| round.threat != "crashed-holder");
    assert_eq!(rounds.map(numbers).collect::<Vec<_>>(), expected);
    for round in tried.run.rounds.iter().filter(|round| round.threat == "crashed-holder") {
        assert_eq!(
            (round.facts.recorded, round.facts.stock_left),
            (10, Some(0)),
            "{round:?}"
        );
    }
}

#[test]
fn three_units_a_purchase_leave_one_unit_and_hold() {
    let mut trial = honest("plain");
    trial.load = Load {
        stock: 13,
        quantity: 3,
        ..LOAD
    };
    trial.threats = &["one-buyer", "second-instance"];
    let tried = TrialRunner::open().try_shop(&trial);
    let expected = [
        ("lie@redis", "one-buyer", [12, 18, 12, 1]),
        ("lie@sql", "one-buyer", [12, 18, 12, 1]),
        ("lie@redis", "second-instance", [12, 66, 12, 1]),
        ("lie@sql", "second-instance", [12, 66, 12, 1]),
    ];
    assert_eq!(tried.run.rounds.iter().map(numbers).collect::<Vec<_>>(), expected);
    assert_eq!(claim_check(&tried.run), ClaimCheck::AsDesigned);
}

#[test]
fn follow_up_buyers_buy_the_units_that_an_attack_leaves() {
    let mut trial = honest("plain");
    trial.load = Load { stock: 30, ..LOAD };
    trial.threats = &["second-instance"];
    let tried = TrialRunner::open().try_shop(&trial);
    for round in &tried.run.rounds {
        assert_eq!(numbers(round).2, [30, 2, 30, 0], "{round:?}");
        assert_eq!(round.verdict, Verdict::Holds, "{round:?}");
    }
}

#[test]
fn a_threat_with_one_buyer_or_one_request_never_holds() {
    let runner = TrialRunner::open();
    for load in [
        Load { buyers: 1, ..LOAD },
        Load {
            buyers: 1,
            requests: 1,
            stock: 1,
            ..LOAD
        },
    ] {
        let mut trial = honest("plain");
        (trial.load, trial.threats) = (load, &["second-instance"]);
        for round in runner.try_shop(&trial).run.rounds {
            let shown = (round.verdict, round.inconclusive.as_deref());
            assert_eq!(
                shown,
                (Verdict::Inconclusive, Some("no sale overlapped with another purchase")),
                "{round:?}"
            );
        }
    }
}
