//! Many items at once: each is judged by itself, and one wrong item makes the round wrong.

use loadtest::audit::{Finding, Verdict};
use loadtest::result::RoundResult;
use loadtest::sale::Load;

use crate::runner::{LOAD, Trial, TrialRunner};

const ITEMS: usize = 3;

fn sale_set(lie: &str) -> Trial<'_> {
    Trial {
        lie,
        threats: &["one-buyer", "second-instance"],
        instances: 2,
        load: Load {
            requests: 20 * ITEMS,
            stock: 8,
            items: ITEMS,
            ..LOAD
        },
        repeats: 1,
    }
}

#[test]
fn every_item_of_an_honest_sale_set_is_sold_out_exactly() {
    let tried = TrialRunner::open().try_shop(&sale_set("plain"));
    assert_eq!(tried.error, None);
    for round in &tried.run.rounds {
        let RoundResult { facts, findings, .. } = round;
        assert_eq!(
            (round.verdict, findings.named(), round.items),
            (Verdict::Holds, vec![], ITEMS),
            "{round:?}"
        );
        assert_eq!((facts.recorded, facts.stock_left), (24, Some(0)), "{round:?}");
        assert!(round.sales_per_s > 0.0, "{round:?}");
    }
    assert_eq!(tried.run.rounds.len(), 4);
}

#[test]
fn an_honest_sale_set_holds_where_few_buyers_want_each_item_and_a_lock_is_tried_once() {
    let runner = TrialRunner::open();
    for kind in ["plain", "fail-fast", "waits"] {
        let mut trial = sale_set(kind);
        trial.threats = &["second-instance"];
        trial.load = Load {
            requests: 4 * 10,
            stock: 2,
            items: 10,
            work_ms: 5,
            ..trial.load
        };
        let tried = runner.try_shop(&trial);
        assert_eq!((&tried.error, tried.run.rounds.len()), (&None, 2), "{kind}");
        for round in &tried.run.rounds {
            let shown = (round.verdict, round.findings.named(), round.inconclusive.as_deref());
            assert_eq!(shown, (Verdict::Holds, vec![], None), "{kind}: {round:?}");
        }
    }
}

#[test]
fn an_honest_sale_set_holds_when_an_instance_crashes() {
    let mut trial = sale_set("plain");
    trial.threats = &["crashed-holder"];
    trial.load = Load {
        requests: 20 * 20,
        items: 20,
        ..trial.load
    };
    let tried = TrialRunner::open().try_shop(&trial);
    assert_eq!(tried.error, None);
    for round in &tried.run.rounds {
        let shown = (round.verdict, round.findings.named(), round.inconclusive.as_deref());
        assert_eq!(shown, (Verdict::Holds, vec![], None), "{round:?}");
    }
    assert_eq!(tried.run.rounds.len(), 2);
}

#[test]
fn a_round_counts_the_lost_units_of_each_item() {
    let mut trial = sale_set("loses-an-order");
    trial.threats = &["one-buyer"];
    let tried = TrialRunner::open().try_shop(&trial);
    let lost = tried
        .run
        .rounds
        .iter()
        .map(|round| (round.verdict, round.findings.of(Finding::Lost)));
    assert_eq!(lost.collect::<Vec<_>>(), [(Verdict::Violated, 3); 2]);
}

#[test]
fn one_wrong_item_makes_the_round_violated() {
    let mut trial = sale_set("refills-first-item");
    trial.threats = &["second-instance"];
    let tried = TrialRunner::open().try_shop(&trial);
    for round in &tried.run.rounds {
        assert_eq!(round.verdict, Verdict::Violated, "{round:?}");
        assert!(round.findings.of(Finding::Oversold) > 0, "{round:?}");
    }
    assert_eq!(tried.run.rounds.len(), 2);
}
