//! Every report, compared as the whole file.

use std::collections::BTreeMap;

use loadtest::audit::{Findings, Verdict};
use loadtest::environment::Environment;
use loadtest::report;
use loadtest::result::{RoundFacts, RoundResult, RunResult};
use loadtest::told::{Latency, Word};

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
        threat: threat.to_owned(),
        instances,
        buyers: 8,
        stock: 12,
        demand: 24,
        quantity: 1,
        work_ms: 5,
        repeat: 1,
        claimed: true,
        verdict: Verdict::Holds,
        as_designed: true,
        told: [(Word::Sold, 12), (Word::SoldOut, 12)].into(),
        facts: RoundFacts {
            recorded: 12,
            explained: 0,
            stock_left: 0,
        },
        findings: Findings::default(),
        latency_us: [(Word::Sold, latency(12, 4)), (Word::SoldOut, latency(12, 1))].into(),
        sales_per_s: 250.5,
        skipped: None,
        inconclusive: None,
    }
}

pub fn run(rounds: Vec<RoundResult>) -> RunResult {
    RunResult {
        schema_version: 1,
        command: "oversell run --repeat 2".to_owned(),
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
            nginx: Some("1.26.0".to_owned()),
            load_model: "closed".to_owned(),
        },
        as_designed: Some(false),
        rounds,
    }
}

/// What is as designed, a broken promise (`!!`), what was no test (`??`), and what was not played.
fn every_kind() -> RunResult {
    let mut honest = round("lua@redis", "second-instance", 2);
    honest.sales_per_s = 300.4;
    let mut slower = honest.clone();
    (slower.repeat, slower.sales_per_s) = (2, 200.0);
    let mut naive = round("none@sql", "second-instance", 2);
    (naive.claimed, naive.verdict) = (false, Verdict::Violated);
    naive.told = BTreeMap::from([(Word::Sold, 24)]);
    (naive.findings.oversold, naive.findings.drift) = (12, -12);
    naive.latency_us.remove(&Word::SoldOut);
    let mut broken = round("setnx@redis", "second-instance", 2);
    (broken.verdict, broken.as_designed) = (Verdict::Violated, false);
    (broken.findings.lost, broken.findings.stuck) = (1, 1);
    broken.latency_us.remove(&Word::SoldOut);
    let mut dead = round("setnx@redis", "crashed-holder", 2);
    (dead.verdict, dead.as_designed) = (Verdict::Inconclusive, false);
    dead.told = BTreeMap::from([(Word::Busy, 16)]);
    dead.latency_us.clear();
    dead.sales_per_s = 0.0;
    dead.inconclusive = Some("nothing was sold".to_owned());
    let mut skipped = round("none@sql", "crashed-holder", 2);
    (skipped.verdict, skipped.as_designed) = (Verdict::Inconclusive, false);
    skipped.skipped = Some("no such fault here".to_owned());
    skipped.told.clear();
    skipped.facts.recorded = 0;
    skipped.latency_us.clear();
    skipped.sales_per_s = 0.0;
    run(vec![honest, naive, broken, dead, skipped, slower])
}

/// Compares with the file; a difference is shown as the file that was made.
fn compare(name: &str, expected: &str) {
    let report = report::all()
        .into_iter()
        .find(|report| report.file_name() == name)
        .unwrap();
    let rendered = report.render(&every_kind());
    assert!(rendered == expected, "{name} is now:\n{rendered}");
}

#[test]
fn the_markdown_report_is_as_expected_to_the_letter() {
    compare("result.md", include_str!("expected/result.md"));
}

#[test]
fn the_json_report_is_as_expected_to_the_letter() {
    compare("result.json", include_str!("expected/result.json"));
}

#[test]
fn a_result_that_is_read_back_is_the_same_result() {
    let json = include_str!("expected/result.json");
    let read: RunResult = serde_json::from_str(json).unwrap();
    assert_eq!(serde_json::to_string_pretty(&read).unwrap() + "\n", json);
}
