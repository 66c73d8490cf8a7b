//! The matrix: the first table of a document, the page to read, and the whole one.

use loadtest::audit::{Finding, Verdict};
use loadtest::report::{self, Language};
use loadtest::result::RoundResult;

use crate::report::{rendered, round, run};

/// A place in a catalogue, and a kind of mechanism.
fn known(strategy: &str) -> Option<(usize, &'static str)> {
    let kinds = [
        ("none", "no lock"),
        ("lua", "atomic update"),
        ("decr", "atomic update"),
        ("setnx", "lock"),
    ];
    let place = kinds
        .iter()
        .position(|(mechanism, _)| strategy.starts_with(mechanism))?;
    Some((place, kinds[place].1))
}

fn violated(strategy: &str, threat: &str, instances: usize, finding: Finding) -> RoundResult {
    let mut violated = round(strategy, threat, instances);
    (violated.claimed, violated.verdict) = (false, Verdict::Violated);
    violated.findings.add(finding, 3);
    violated
}

fn no_test(strategy: &str, threat: &str) -> RoundResult {
    let mut no_test = round(strategy, threat, 2);
    (no_test.verdict, no_test.as_designed) = (Verdict::Inconclusive, false);
    no_test.inconclusive = Some("nothing was sold".to_owned());
    no_test
}

#[test]
fn the_page_of_the_matrix_is_as_expected_to_the_letter() {
    let mut rounds = vec![
        // A control that all strategies pass is no column.
        round("stranger@redis", "one-buyer", 2),
        round("lua@redis", "one-buyer", 2),
        round("lua@redis", "second-instance", 2),
        round("lua@redis", "second-instance", 3),
        violated("decr@redis", "second-instance", 2, Finding::Drift),
        violated("decr@redis", "second-instance", 3, Finding::Undersold),
        violated("none@redis", "second-instance", 2, Finding::Oversold),
        // The same result on another store is one row.
        violated("none@sql", "second-instance", 2, Finding::Oversold),
        round("stranger@redis", "second-instance", 2),
        round("stranger@redis", "a-new-threat", 2),
        no_test("decr@redis", "crashed-holder"),
        round("lua@redis", "crashed-holder", 2),
        no_test("none@redis", "crashed-holder"),
        no_test("none@sql", "crashed-holder"),
        violated("lua@redis", "redis-restart", 2, Finding::Lost),
    ];
    let threats = ["slow-holder", "paused-holder", "sql-restart", "sql-gone", "lost-reply"];
    rounds.extend(threats.map(|threat| round("lua@redis", threat, 2)));
    let mut broken = violated("stranger@redis", "lost-reply", 2, Finding::FalseRefusal);
    (broken.claimed, broken.as_designed) = (true, false);
    rounds.push(broken);
    let text = report::page(&run(rounds), known, "../results/some-run") + "\n";
    assert!(text == include_str!("expected/page.md"), "it is now:\n{text}");
}

#[test]
fn a_control_that_somebody_fails_is_a_column_like_any_other() {
    let failed = violated("lua@redis", "one-buyer", 2, Finding::Ghost);
    let text = report::page(&run(vec![failed]), known, "results/some-run");
    assert!(text.contains("| one buyer "), "{text}");
}

#[test]
fn a_run_of_some_threats_says_how_many_they_are_and_measures_no_speed() {
    let rounds = vec![
        round("lua@redis", "disk-full", 2),
        violated("none@redis", "disk-full", 2, Finding::Oversold),
        round("conditional@sql", "pool-exhausted", 2),
    ];
    let text = report::page(&run(rounds), known, "results/some-run");
    assert!(
        text.starts_with("**2 of 3 strategies hold under the 2 threats of this run,"),
        "{text}"
    );
    assert!(!text.contains("Strategies that hold"), "{text}");
}

#[test]
fn the_first_table_says_one_word_for_each_strategy_that_people_know_in_both_languages() {
    let mut lua = violated("lua@redis", "redis-failover", 2, Finding::Oversold);
    lua.findings.add(Finding::Lost, 3);
    let rounds = vec![
        violated("none@redis", "second-instance", 2, Finding::Oversold),
        violated("none@redis", "redis-failover", 2, Finding::Oversold),
        round("lua@redis", "second-instance", 2),
        lua,
        round("setnx@sql", "crashed-between", 2),
        violated("setnx@sql", "crashed-holder", 2, Finding::Stuck),
        no_test("token@sql", "paused-holder"),
    ];
    let run = run(rounds);
    let row = |language, strategy: &str| {
        let text = report::overview(&run, language, "results/some-run");
        assert!(text.contains("(results/some-run)"), "{text}");
        let row = text.lines().find(|line| line.contains(strategy)).unwrap();
        let cells = row.split('|').map(str::trim).skip(2).map(str::to_owned);
        cells.collect::<Vec<_>>()[..6].to_vec()
    };
    for (strategy, english, chinese) in [
        (
            "`none@redis`",
            ["**oversells**", "-", "-", "**oversells**", "-", "250"],
            ["**超卖**", "-", "-", "**超卖**", "-", "250"],
        ),
        (
            "`lua@redis`",
            ["holds", "-", "-", "data loss", "-", "250"],
            ["可靠", "-", "-", "丢数据", "-", "250"],
        ),
        (
            "`setnx@sql`",
            ["-", "**stuck**", "-", "-", "-", "-"],
            ["-", "**卡死**", "-", "-", "-", "-"],
        ),
        (
            "`token@sql`",
            ["-", "-", "no test", "-", "-", "-"],
            ["-", "-", "未检验", "-", "-", "-"],
        ),
        ("`redlock@sql`", ["-"; 6], ["-"; 6]),
    ] {
        assert_eq!(row(Language::English, strategy), english, "{strategy}");
        assert_eq!(row(Language::Chinese, strategy), chinese, "{strategy}");
    }
}

#[test]
fn strategies_of_one_family_stand_together_whatever_the_order_in_which_they_were_played() {
    let of = |strategy: &str, family: Option<&str>| {
        let mut round = round(strategy, "crowd", 1);
        round.family = family.map(str::to_owned);
        round
    };
    let (lock, none) = (Some("lease-lock"), Some("no-lock"));
    let rounds = vec![
        of("a@sql", none),
        of("b@sql", lock),
        of("c@sql", None),
        of("d@sql", none),
    ];
    let [text, _] = rendered(&run(rounds));
    let (_, matrix) = text.split_once("## Who oversells?").unwrap();
    let (matrix, _) = matrix.split_once("## Every trial").unwrap();
    let rows = matrix.lines().filter(|line| line.starts_with('|')).skip(2);
    let heads = rows.map(|row| row.split('|').map(str::trim).skip(1).take(2).collect::<Vec<_>>());
    assert_eq!(
        heads.collect::<Vec<_>>(),
        [
            ["no lock", "`a@sql`"],
            ["", "`d@sql`"],
            ["lease lock", "`b@sql`"],
            ["", "`c@sql`"]
        ]
    );
}
