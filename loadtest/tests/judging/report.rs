//! Every report, compared as the whole file.

use std::collections::{BTreeMap, BTreeSet};

use loadtest::audit::{Finding, Findings, Verdict};
use loadtest::report;
use loadtest::report::terminal_summary::screen;
use loadtest::responses::latency::Latency;
use loadtest::result::compare;
use loadtest::result::environment::Environment;
use loadtest::result::{RoundFacts, RoundResult, RunResult, SCHEMA_VERSION};
use loadtest::shop::pending::Reconciled;
use loadtest::shop::response::ResponseKind;
use loadtest::trace::{Overlap, Role, Story, StoryPurchase, StoryStep};

/// A round that holds: 12 of 12 units sold to 24 purchases.
pub fn round(strategy: &str, threat: &str, instances: usize) -> RoundResult {
    let latency = |n, ms: u64| Latency {
        n,
        p50: ms * 1_000,
        p95: ms * 2_000,
        p99: ms * 3_000,
        p99_9: ms * 3_000,
        max: ms * 3_000,
    };
    RoundResult {
        strategy: strategy.to_owned(),
        family: None,
        threat: threat.to_owned(),
        phase: None,
        instances,
        buyers: 8,
        stock: 12,
        items: 1,
        demand: 24,
        quantity: 1,
        work_ms: 5,
        repeat: 1,
        claimed: true,
        sometimes_broken: false,
        undeclared: false,
        verdict: Verdict::Holds,
        as_designed: true,
        told: [(ResponseKind::Sold, 12), (ResponseKind::SoldOut, 12)].into(),
        facts: RoundFacts {
            recorded: 12,
            explained: 0,
            stock_left: Some(0),
        },
        findings: Findings::default(),
        evidence: Vec::new(),
        latency_us: [
            (ResponseKind::Sold, latency(12, 4)),
            (ResponseKind::SoldOut, latency(12, 1)),
        ]
        .into(),
        sales_per_s: 250.5,
        busy_s: None,
        longest_wait_us: None,
        jain: None,
        story: None,
        reconciled: None,
        struck: Vec::new(),
        skipped: None,
        not_playable: None,
        inconclusive: None,
        inconclusive_before: Vec::new(),
    }
}

pub fn run(rounds: Vec<RoundResult>) -> RunResult {
    RunResult {
        schema_version: SCHEMA_VERSION,
        ended_early: None,
        command: "oversell run --repeat 2".to_owned(),
        soak: None,
        started_at: "2026-01-02T03:04:05Z".to_owned(),
        environment: Environment {
            oversell: "0.1.0".to_owned(),
            os: "Some Linux 1".to_owned(),
            kernel: "6.1.0".to_owned(),
            cpu: "Some CPU".to_owned(),
            cpus: 2,
            memory_mib: 4096,
            redis: "8.0.0".to_owned(),
            mariadb: "11.8.0".to_owned(),
            postgresql: None,
            redis_cluster: None,
            nginx: Some("1.26.0".to_owned()),
            insecure: false,
            load_model: "closed".to_owned(),
        },
        as_designed: Some(false),
        rounds,
    }
}

/// Rounds as designed, a broken claim (`!!`), an inconclusive round (`??`) and a skipped one.
fn every_kind() -> RunResult {
    let mut honest = round("lua@redis", "second-instance", 2);
    (honest.sales_per_s, honest.family) = (300.4, Some("atomic".to_owned()));
    let mut slower = honest.clone();
    (slower.repeat, slower.sales_per_s) = (2, 200.0);
    slower.inconclusive_before = vec!["no two purchases ever met".to_owned()];
    let mut naive = round("none@sql", "second-instance", 2);
    (naive.claimed, naive.verdict) = (false, Verdict::Violated);
    naive.told = BTreeMap::from([(ResponseKind::Sold, 24)]);
    naive.family = Some("no-lock".to_owned());
    naive.findings.add(Finding::Oversold, 12);
    naive.findings.add(Finding::Drift, -12);
    naive.latency_us.remove(&ResponseKind::SoldOut);
    let mut broken = round("setnx@redis", "second-instance", 2);
    (broken.verdict, broken.as_designed) = (Verdict::Violated, false);
    broken.findings.add(Finding::Lost, 1);
    broken.findings.add(Finding::Stuck, 1);
    broken.findings.overlap = Some(Overlap {
        pairs: 2,
        longest_us: 1_540,
    });
    broken.reconciled = Some(Reconciled {
        finished: 3,
        undone: 1,
        longest_ms: 812,
    });
    (broken.longest_wait_us, broken.jain) = (Some(12_345), Some(0.514));
    broken.story = Some(story());
    broken.latency_us.remove(&ResponseKind::SoldOut);
    (broken.family, broken.busy_s) = (Some("lock-without-lease".to_owned()), Some(3.25));
    let mut dead = round("setnx@redis", "crashed-holder", 2);
    (dead.verdict, dead.as_designed) = (Verdict::Inconclusive, false);
    dead.told = BTreeMap::from([(ResponseKind::Busy, 16)]);
    dead.latency_us.clear();
    dead.sales_per_s = 0.0;
    dead.inconclusive = Some("nothing was sold".to_owned());
    (dead.family, dead.busy_s) = (broken.family.clone(), Some(0.4));
    let mut skipped = round("none@sql", "crashed-holder", 2);
    (skipped.verdict, skipped.as_designed) = (Verdict::Inconclusive, false);
    skipped.skipped = Some("no such fault here".to_owned());
    skipped.family = naive.family.clone();
    skipped.told.clear();
    skipped.facts = RoundFacts::default();
    skipped.latency_us.clear();
    skipped.sales_per_s = 0.0;
    run(vec![honest, naive, broken, dead, skipped, slower])
}

/// A purchase that took the lock and was killed.
fn story() -> Story {
    Story {
        shows: Finding::Stuck,
        purchases: vec![StoryPurchase {
            buyer: "b-3".to_owned(),
            instance: "app-1".to_owned(),
            told: Some(ResponseKind::Unknown),
            killed: true,
            left_out: 0,
            units_gone: 0,
        }],
        steps: vec![StoryStep {
            purchase: 0,
            worker: None,
            step: "setnx".to_owned(),
            role: Some(Role::Lock),
            times: 2,
            began_us: 0,
            ended_us: Some(1_250),
            said: Some("taken".to_owned()),
            value: None,
        }],
        events: Vec::new(),
    }
}

/// Compares with the file; a difference is shown as the file that was made.
fn assert_rendered(name: &str, expected: &str) {
    let report = report::all()
        .into_iter()
        .find(|report| report.file_name() == name)
        .unwrap();
    let rendered = report.render(&every_kind());
    assert!(rendered == expected, "{name} is now:\n{rendered}");
}

#[test]
fn the_markdown_report_is_as_expected_to_the_letter() {
    assert_rendered("result.md", include_str!("expected/result.md"));
}

#[test]
fn a_long_name_of_a_strategy_is_shown_whole_widens_no_line_of_the_screen_and_moves_no_column() {
    for length in [2, 21, 36, 64] {
        let long = round(&"x".repeat(length), "second-instance", 2);
        let ran = run(vec![round("y", "second-instance", 2), long]);
        for width in [80, 120] {
            let shown = screen(&ran, false, width);
            let rows: Vec<_> = shown.lines().filter(|line| line.ends_with("     4.0")).collect();
            assert_eq!(rows.len(), 2, "{shown}");
            let happened = rows.iter().map(|row| row.find("holds in").unwrap());
            assert_eq!(happened.collect::<BTreeSet<_>>().len(), 1, "{shown}");
            let heads = shown.lines().find(|line| line.ends_with("     ms")).unwrap();
            assert!(rows.iter().all(|row| row.len() == heads.len()), "{shown}");
            assert!(shown.lines().all(|line| line.len() <= width), "{shown}");
            assert!(shown.contains(&"x".repeat(length)), "no name is cut: {shown}");
        }
    }
}

#[test]
fn the_screen_at_the_end_is_as_expected_to_the_letter_and_80_columns_wide() {
    let shown = screen(&every_kind(), false, 80);
    assert!(shown == include_str!("expected/screen.txt"), "it is now:\n{shown}");
    let widest = shown.lines().map(|line| line.chars().count()).max();
    assert!(widest <= Some(80), "{widest:?}");
    let without_codes = screen(&every_kind(), true, 80)
        .split('\u{1b}')
        .map(|part| {
            part.split_once('m')
                .filter(|(code, _)| code.starts_with('['))
                .map_or(part, |(_, rest)| rest)
        })
        .collect::<String>();
    assert_eq!(without_codes, shown, "colour says nothing that the words do not");
}

#[test]
fn the_json_report_is_as_expected_to_the_letter() {
    assert_rendered("result.json", include_str!("expected/result.json"));
}

#[test]
fn two_runs_are_compared_verdict_by_verdict_and_their_costs_as_ratios_with_their_spread() {
    let before = every_kind();
    let mut after = every_kind();
    assert!(!compare::compare(&before, &after).has_changed);
    assert!(
        compare::compare(&before, &after)
            .text
            .starts_with("No verdict changed.\n")
    );
    after.environment.cpus = 4;
    (after.rounds[1].verdict, after.rounds[1].findings) = (Verdict::Holds, Findings::default());
    after.rounds.retain(|round| round.threat != "crashed-holder");
    after.rounds[0].sales_per_s = 600.8;
    let compared = compare::compare(&before, &after);
    assert!(compared.has_changed);
    let expected = include_str!("expected/compared.txt");
    assert!(compared.text == expected, "it is now:\n{}", compared.text);
}

#[test]
fn a_result_that_is_read_back_is_the_same_result() {
    let json = include_str!("expected/result.json");
    let read = RunResult::parse(json.as_bytes()).unwrap();
    assert_eq!(serde_json::to_string_pretty(&read).unwrap() + "\n", json);
}

#[test]
fn a_result_of_another_schema_version_is_refused_with_both_versions() {
    let mut older = run(vec![round("lua@redis", "crowd", 1)]);
    older.schema_version = 1;
    let json = serde_json::to_string(&older).unwrap();
    let said = RunResult::parse(json.as_bytes()).unwrap_err().to_string();
    assert!(
        said.contains("version 1,") && said.contains(&format!("version {SCHEMA_VERSION} ")),
        "{said}"
    );
    for none in ["", "{}", "[]", "{\"schema_version\":2}"] {
        let said = RunResult::parse(none.as_bytes()).unwrap_err().to_string();
        assert!(said.starts_with("this is not a result of oversell: "), "{none}: {said}");
    }
}

#[test]
fn a_strategy_of_which_no_trial_was_played_is_listed_with_the_reason() {
    const WHY: &str = "the shop cannot use it: its key was lost";
    for said in ["skipped", "not playable here"] {
        let mut absent = round("gone@redis", "crowd", 1);
        let why = Some(WHY.to_owned());
        match said {
            "skipped" => absent.skipped = why,
            _ => absent.not_playable = why,
        }
        let run = run(vec![round("lua@redis", "crowd", 1), absent]);
        let shown = screen(&run, false, 120);
        assert!(shown.contains(&format!("\n-  gone@redis {said}: {WHY}\n")), "{shown}");
        let [long, short] = rendered(&run);
        let row = long
            .lines()
            .find(|line| line.starts_with("| `gone@redis`") && line.contains("crowd"))
            .unwrap();
        assert!(
            row.contains(&format!("| {said} ")) && row.contains(&format!("| {WHY} |")),
            "{row}"
        );
        assert!(short.contains(WHY), "{short}");
    }
}

/// The two pages that a user reads first.
pub fn rendered(run: &RunResult) -> [String; 2] {
    let all = report::all();
    let markdown = all.iter().find(|report| report.file_name() == "result.md").unwrap();
    [markdown.render(run), report::page(run, |_| None, "results/some-run")]
}

#[test]
fn a_run_that_is_not_whole_says_so_before_everything_else() {
    let mut early = run(vec![round("lua@redis", "crowd", 1)]);
    early.ended_early = Some("after 1 of 200 rounds".to_owned());
    let mut skipped = run(vec![round("lua@redis", "crowd", 1)]);
    skipped.rounds[0].skipped = Some("the shop runs on 2 instances, not on 1".to_owned());
    let mut beside = run(vec![
        round("lua@redis", "crowd", 1),
        round("lua@redis", "redis-restart", 2),
    ]);
    beside.rounds[1].not_playable = Some("it needs Redis".to_owned());
    let begins = |run: &RunResult, [long, short]: [&str; 2]| {
        let shown = rendered(run);
        assert!(shown[0].starts_with(long), "{}", shown[0]);
        assert!(shown[1].starts_with(short), "{}", shown[1]);
    };
    begins(
        &early,
        [
            "**The run ended early: it decides nothing.**\n\n```text\nEnded early: after 1 of 200 rounds\n",
            "**This run ended early, after 1 of 200 rounds.**\n\n",
        ],
    );
    begins(
        &skipped,
        [
            "**Some trials were skipped: nothing is decided about them.**\n\n```text\nSkipped: the shop runs on 2",
            "**Trials were skipped: the shop runs on 2 instances, not on 1.**\n\n",
        ],
    );
    begins(
        &beside,
        [
            "**As claimed: of 1 strategies 1 held in every round, 0 failed.**\n\n```text\nNot playable here: it needs Redis\n",
            "**Trials are not playable here: it needs Redis.**\n\n",
        ],
    );
}
