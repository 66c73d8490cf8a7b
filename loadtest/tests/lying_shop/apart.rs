//! A shop with two stores, in which a crash leaves a purchase pending.

use loadtest::audit::{Finding, Verdict};

use crate::runner::{LOAD, Trial, TrialRunner, Tried};

/// The lies that are tried here.
pub const APART: &[&str] = &["finishes-what-is-left", "never-finishes"];

fn try_shop(lie: &str) -> Tried {
    TrialRunner::open().try_shop(&Trial {
        lie,
        threats: &["one-buyer", "crashed-holder"],
        instances: 2,
        load: LOAD,
        repeats: 1,
    })
}

#[test]
fn a_round_waits_for_purchases_that_a_crash_left_pending() {
    let tried = try_shop("finishes-what-is-left");
    assert_eq!((&tried.error, tried.run.rounds.len()), (&None, 2));
    for round in &tried.run.rounds {
        assert_eq!(
            (round.verdict, round.findings.named()),
            (Verdict::Holds, vec![]),
            "{round:?}"
        );
    }
    let [quiet, crashed] = [0, 1].map(|place| tried.run.rounds[place].reconciled.unwrap());
    assert_eq!((quiet.finished, quiet.undone, quiet.longest_ms), (0, 0, 0));
    // The killed instance may have left further purchases pending, so there may be more than one.
    assert!(crashed.finished >= 1 && crashed.undone == 0, "{crashed:?}");
    assert!(crashed.longest_ms >= 1_500, "{crashed:?}");
}

#[test]
fn a_purchase_that_stays_pending_is_judged_as_it_is() {
    let tried = try_shop("never-finishes");
    let crashed = &tried.run.rounds[1];
    assert_eq!(crashed.verdict, Verdict::Violated, "{crashed:?}");
    assert!(crashed.findings.of(Finding::Drift) >= 1, "{crashed:?}");
}
