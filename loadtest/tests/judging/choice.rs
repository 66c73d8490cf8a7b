//! The choice of a strategy: holding, failing only by a loss of data, useless and untested strategies.

use loadtest::audit::{Finding, Verdict};
use loadtest::result::RoundResult;
use loadtest::result::cell::Cell;
use loadtest::result::choice::{Choice, Stores, WORDS, choose, threats_of};
use loadtest::result::conclusion::{Conclusion, Conclusions};
use loadtest::threats;

use crate::report::{round, run};

fn fails(strategy: &str, threat: &str, findings: &[(Finding, i64)]) -> RoundResult {
    let mut failed = round(strategy, threat, 2);
    failed.verdict = Verdict::Violated;
    for (finding, size) in findings {
        failed.findings.add(*finding, *size);
    }
    failed
}

fn sells(strategy: &str, sales_per_s: f64) -> RoundResult {
    RoundResult {
        sales_per_s,
        ..round(strategy, "second-instance", 2)
    }
}

fn conclusion(rounds: Vec<RoundResult>, strategy: &str, threat: &str) -> Conclusion {
    let run = run(rounds);
    let cells = Cell::all(&run);
    Conclusions::of(&cells).under(strategy, &[threat])
}

#[test]
fn a_failure_is_a_loss_of_data_only_where_a_store_of_the_sale_forgot_as_many_units() {
    use Finding::{Drift, Lost, Oversold, Stuck, Unreadable};
    const OWN: Conclusion = Conclusion::Fails(Finding::Oversold);
    type Row = (&'static str, &'static str, &'static [(Finding, i64)], Conclusion);
    let table: [Row; 12] = [
        // One order was forgotten, and its unit was sold again.
        (
            "lua@redis",
            "redis-failover",
            &[(Oversold, 1), (Lost, 1)],
            Conclusion::DataLoss,
        ),
        (
            "lua@redis",
            "redis-restart",
            &[(Lost, 11), (Unreadable, 1)],
            Conclusion::DataLoss,
        ),
        // The lock was forgotten, too: two holders sold more than the store forgot.
        (
            "token@redis",
            "redis-failover",
            &[(Oversold, 4), (Lost, 1), (Drift, -3)],
            OWN,
        ),
        ("none@redis", "redis-failover", &[(Oversold, 44), (Lost, 1)], OWN),
        // The store of the stock kept everything.
        ("token@sql", "redis-failover", &[(Oversold, 4), (Drift, -4)], OWN),
        // The same where nothing is forgotten.
        ("lua@redis", "paused-holder", &[(Oversold, 1), (Lost, 1)], OWN),
        (
            "setnx@redis",
            "redis-restart",
            &[(Lost, 11), (Stuck, 1)],
            Conclusion::Fails(Lost),
        ),
        // The orders lie in SQL: other strategies show that Redis forgot one unit.
        (
            "outbox@redis+sql",
            "redis-failover",
            &[(Oversold, 1), (Drift, -1)],
            Conclusion::DataLoss,
        ),
        (
            "dual-write@redis+sql",
            "redis-failover",
            &[(Oversold, 2), (Drift, -2)],
            OWN,
        ),
        // The orders were forgotten, and the stock was not.
        (
            "outbox@redis+sql",
            "sql-failover",
            &[(Lost, 1), (Drift, 1)],
            Conclusion::DataLoss,
        ),
        (
            "conditional@sql",
            "sql-failover",
            &[(Oversold, 1), (Lost, 1)],
            Conclusion::DataLoss,
        ),
        // Only the lock lay there.
        ("lock-table@redis", "sql-failover", &[(Oversold, 1), (Drift, -1)], OWN),
    ];
    for (strategy, threat, findings, expected) in table {
        let rounds = vec![
            fails("segmented@redis", "redis-failover", &[(Oversold, 1), (Lost, 1)]),
            fails(strategy, threat, findings),
        ];
        assert_eq!(conclusion(rounds, strategy, threat), expected, "{strategy}, {threat}");
    }
}

#[test]
fn one_failure_in_many_rounds_decides_and_a_round_that_decides_nothing_is_no_success() {
    let mut no_test = round("a@redis", "crowd", 1);
    no_test.verdict = Verdict::Inconclusive;
    let good = round("a@redis", "crowd", 1);
    let bad = fails("a@redis", "crowd", &[(Finding::Stuck, 1)]);
    let of = |rounds: &[&RoundResult]| {
        let rounds: Vec<_> = rounds.iter().copied().cloned().collect();
        conclusion(rounds, "a@redis", "crowd")
    };
    assert_eq!(of(&[&good, &good]), Conclusion::Holds);
    assert_eq!(of(&[&good, &no_test]), Conclusion::NoTest);
    // On another number of instances it is another cell.
    assert_eq!(of(&[&good, &no_test, &bad]), Conclusion::Fails(Finding::Stuck));
    assert_eq!(of(&[]), Conclusion::NotTried);
}

/// Strategies of every fate under a crash.
fn every_fate() -> Vec<RoundResult> {
    let mut untested = round("new@redis", "crashed-holder", 2);
    untested.verdict = Verdict::Inconclusive;
    vec![
        sells("slow@redis", 30.0),
        round("slow@redis", "crashed-holder", 2),
        sells("fast@redis", 600.0),
        round("fast@redis", "crashed-holder", 2),
        fails("fast@redis", "redis-restart", &[(Finding::Lost, 3)]),
        fails("fast@redis", "lost-reply", &[(Finding::Drift, 3)]),
        // A crash does not concern it.
        sells("other@redis", 60.0),
        sells("useless@redis", 5.9),
        sells("stuck@redis", 999.0),
        fails("stuck@redis", "crashed-holder", &[(Finding::Stuck, 1)]),
        // It holds under a crash and oversells without one.
        fails("none@redis", "second-instance", &[(Finding::Oversold, 9)]),
        round("none@redis", "crashed-holder", 2),
        sells("new@redis", 999.0),
        untested,
        sells("lock@sql", 10.0),
        sells("two@sql+sql", 11.0),
        sells("outbox@redis+sql", 12.0),
    ]
}

fn names(candidates: &[loadtest::result::choice::Candidate]) -> Vec<&str> {
    candidates.iter().map(|candidate| candidate.strategy.as_str()).collect()
}

#[test]
fn the_fastest_strategies_that_hold_are_named_first_and_all_others_with_their_reason() {
    let Choice {
        holds,
        useless,
        data_loss,
        fails,
        untested,
        ..
    } = choose(&run(every_fate()), Stores::Redis, &["crashed-holder"]).unwrap();
    assert_eq!(names(&holds), ["fast@redis", "other@redis", "slow@redis"]);
    assert_eq!(names(&useless), ["useless@redis"]);
    assert_eq!(
        (fails, untested),
        (
            vec!["stuck@redis".into(), "none@redis".into()],
            vec!["new@redis".into()]
        )
    );
    assert!(data_loss.is_empty(), "{data_loss:?}");
    let fast = &holds[0];
    assert_eq!((fast.sales_per_s, fast.median_ms, fast.p99_ms), (600.0, 4.0, 12.0));
    assert_eq!(fast.fails_under, ["lost-reply"]);
    assert_eq!(fast.data_loss_under, ["redis-restart"]);
}

#[test]
fn a_strategy_that_only_its_store_breaks_stands_apart() {
    let choice = choose(&run(every_fate()), Stores::Redis, &["redis-restart"]).unwrap();
    assert_eq!(choice.data_loss, ["fast@redis"]);
    assert!(!names(&choice.holds).contains(&"fast@redis"));
}

#[test]
fn stores_are_those_of_stock_and_orders() {
    let of = |stores| {
        let choice = choose(&run(every_fate()), stores, &["crashed-holder"]).unwrap();
        choice
            .holds
            .into_iter()
            .map(|candidate| candidate.strategy)
            .collect::<Vec<_>>()
    };
    assert_eq!(of(Stores::Sql), ["two@sql+sql", "lock@sql"]);
    assert_eq!(of(Stores::Both), ["outbox@redis+sql"]);
}

#[test]
fn a_run_answers_only_what_it_tried() {
    let whole = run(every_fate());
    let error = choose(&whole, Stores::Redis, &["clock-jump"]).unwrap_err().to_string();
    assert_eq!(error, "the run did not try clock-jump: name a result that did");
    let mut early = whole;
    early.ended_early = Some("after 17 of 99 rounds".to_owned());
    let choice = choose(&early, Stores::Redis, &["crashed-holder"]).unwrap();
    // An interrupted run does not show whether a crash concerns the others.
    assert_eq!(
        choice.untested,
        ["slow@redis", "fast@redis", "other@redis", "useless@redis", "new@redis"]
    );
}

#[test]
fn a_word_means_threats_and_a_wrong_one_is_answered_with_the_nearest() {
    assert_eq!(
        threats_of("crash").unwrap(),
        ["crashed-holder", "crashed-between", "reconciler-killed"]
    );
    assert_eq!(threats_of("slow-holder").unwrap(), ["slow-holder"]);
    assert_eq!(threats_of("all").unwrap().len(), threats::names().len() - 1);
    let error = threats_of("crahs").unwrap_err().to_string();
    assert_eq!(error, "no threat is called crahs; did you mean crash?");
    for (word, meant) in WORDS {
        assert!(threats::find(word).is_none(), "{word} is a threat, too");
        assert!(meant.iter().all(|threat| threats::find(threat).is_some()), "{word}");
    }
}
