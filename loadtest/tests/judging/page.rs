//! The page of a run: its timelines, and what a stranger wrote in it.

use loadtest::audit::Verdict;
use loadtest::report;
use loadtest::result::RunResult;
use loadtest::result::compare::compare;
use loadtest::trace::Story;
use serde_json::{Value, json};

use crate::report::{round, run};

fn page(run: &RunResult) -> String {
    let all = report::all();
    let page = all.iter().find(|report| report.file_name() == "result.html").unwrap();
    page.render(run)
}

/// The data in a page, as its script reads them.
fn data(page: &str) -> Value {
    let (_, rest) = page
        .split_once(r#"<script id="data" type="application/json">"#)
        .unwrap();
    serde_json::from_str(rest.split_once("</script>").unwrap().0).unwrap()
}

/// The rows of the timeline of this story: purchase, words, mark, states, news in the stores.
fn rows(story: Value) -> Vec<(Option<u64>, String, String, String, String)> {
    let story: Story = serde_json::from_value(story).unwrap();
    let mut violated = round("some@redis", "crowd", 2);
    (violated.verdict, violated.story) = (Verdict::Violated, Some(story));
    let data = data(&page(&run(vec![violated])));
    let rows = data["cells"][0][0]["timeline"]["rows"].as_array().unwrap().iter();
    // Empty texts at the end of a row are left out.
    let text = |row: &Value, place: usize| row[place].as_str().unwrap_or_default().to_owned();
    rows.map(|row| (row[1].as_u64(), text(row, 2), text(row, 3), text(row, 4), text(row, 5)))
        .collect()
}

fn purchases() -> Value {
    let at = |instance| json!({"buyer": "b", "instance": instance, "told": "sold", "killed": false, "left_out": 0});
    json!([at("app-1"), at("app-2")])
}

fn step(purchase: usize, role: &str, [began, ended]: [u64; 2], value: Value) -> Value {
    json!({
        "purchase": purchase, "step": role, "role": role, "times": 1, "began_us": began, "ended_us": ended,
        "said": "so", "value": value,
    })
}

fn row(
    purchase: Option<u64>,
    words: &str,
    mark: &str,
    states: &str,
    stores: &str,
) -> (Option<u64>, String, String, String, String) {
    let [words, mark, states, stores] = [words, mark, states, stores].map(str::to_owned);
    (purchase, words, mark, states, stores)
}

#[test]
fn a_timeline_marks_the_step_of_a_worker_that_sells_a_unit_again() {
    let mut sale = step(0, "commit", [60, 70], Value::Null);
    sale["worker"] = json!({"name": "reconciler", "instance": "app-2"});
    let with = |left: i64, sale: Value| {
        rows(json!({"shows": "oversold", "purchases": purchases(), "steps": [
            step(0, "write", [0, 10], json!({"left": 0})),
            step(1, "write", [40, 50], json!({"left": left})),
            sale,
        ]}))
    };
    let told = "the reconciler of app-2: commit: so";
    assert_eq!(with(0, sale.clone())[2], row(Some(0), told, "wrong", "", ""));
    assert_eq!(with(1, sale.clone())[2], row(Some(0), told, "", "", ""));
    sale["began_us"] = json!(20);
    assert_eq!(with(0, sale)[3], row(Some(0), told, "", "", ""));
}

#[test]
fn a_timeline_marks_the_write_that_takes_another_one_away() {
    let story = json!({"shows": "oversold", "purchases": purchases(), "steps": [
        step(0, "read", [0, 10], json!({"left": 1})),
        step(1, "read", [20, 30], json!({"left": 1})),
        step(0, "write", [40, 50], json!({"wrote": 0})),
        step(1, "write", [60, 70], json!({"wrote": 0})),
    ]});
    assert_eq!(
        rows(story),
        [
            row(Some(0), "read: so", "read", "", ""),
            row(Some(1), "read: so", "read", "", ""),
            row(Some(0), "write: so", "write", "", "stock 0"),
            row(Some(1), "write: so", "wrong", "", "stock 0"),
        ]
    );
}

#[test]
fn a_timeline_marks_a_write_after_a_read_that_did_not_see_another_one() {
    let story = json!({"shows": "oversold", "purchases": purchases(), "steps": [
        step(0, "read", [0, 10], json!({"left": 1})),
        step(0, "write", [20, 30], json!({"wrote": 0})),
        step(1, "read", [40, 50], json!({"left": 1})),
        step(0, "commit", [60, 70], Value::Null),
        step(1, "write", [80, 90], json!({"wrote": 0})),
    ]});
    let wrong = rows(story).into_iter().filter(|(_, _, mark, ..)| mark == "wrong");
    assert_eq!(
        wrong.collect::<Vec<_>>(),
        [row(Some(1), "write: so", "wrong", "", "stock 0")]
    );
}

#[test]
fn a_timeline_shows_who_holds_the_lock_and_who_only_believes_it() {
    let story = json!({"shows": "oversold", "purchases": purchases(), "steps": [
        step(0, "lock", [0, 10], json!({"taken": true})),
        step(0, "read", [20, 30], json!({"left": 1})),
        step(1, "lock", [110, 120], json!({"taken": true})),
        step(1, "read", [130, 140], json!({"left": 1})),
        step(1, "write", [150, 160], json!({"wrote": 0})),
        step(1, "release", [170, 180], Value::Null),
        step(0, "write", [200, 210], json!({"wrote": 0})),
        step(0, "release", [220, 230], Value::Null),
    ], "events": [{"what": "lease_ended", "subject": "app-1", "purchase": 0, "began_us": 100, "ended_us": null}]});
    assert_eq!(
        rows(story),
        [
            row(Some(0), "lock: so", "", "h", "lock: A"),
            row(Some(0), "read: so", "read", "h", ""),
            row(
                None,
                "the lease of A has ended, and nobody renewed it",
                "event",
                "b",
                "lock free"
            ),
            row(Some(1), "lock: so", "", "bh", "lock: B"),
            row(Some(1), "read: so", "read", "bh", ""),
            row(Some(1), "write: so", "write", "bh", "stock 0"),
            row(Some(1), "release: so", "", "bh", "lock free"),
            row(Some(0), "write: so", "wrong", "b", "stock 0"),
            row(Some(0), "release: so", "", "b", ""),
        ]
    );
}

#[test]
fn what_a_stranger_wrote_is_no_markup_in_the_page() {
    let evil = "</script><script>alert(1)</script><b>\u{202e}\u{1b}[2J";
    let hostile = |text: &str| {
        let mut round = round(text, text, 2);
        (round.family, round.inconclusive) = (Some(text.to_owned()), Some(text.to_owned()));
        let mut run = run(vec![round]);
        for field in [
            &mut run.command,
            &mut run.started_at,
            &mut run.environment.redis,
            &mut run.environment.cpu,
        ] {
            *field = text.to_owned();
        }
        run.ended_early = Some(text.to_owned());
        page(&run)
    };
    let (forged, plain) = (hostile(evil), hostile("plain"));
    assert_eq!(data(&forged)["cells"].as_array().unwrap().len(), 1);
    for mark in ["<script", "</script", "<b>"] {
        assert_eq!(forged.matches(mark).count(), plain.matches(mark).count(), "{mark}");
    }
    assert!(!forged.contains(['\u{202e}', '\u{1b}']), "{forged}");
    let long = hostile(&"x".repeat(1 << 20));
    assert!(long.len() < 100_000, "{}", long.len());
}

#[test]
fn a_comparison_shows_both_results_of_a_cell_that_changed_and_of_one_that_is_gone() {
    let cell = |strategy: &str, verdict| {
        let mut round = round(strategy, "crowd", 2);
        round.verdict = verdict;
        round
    };
    let before = run(vec![
        cell("some@redis", Verdict::Holds),
        cell("gone@redis", Verdict::Holds),
        cell("same@redis", Verdict::Violated),
    ]);
    let after = run(vec![
        cell("some@redis", Verdict::Violated),
        cell("same@redis", Verdict::Violated),
    ]);
    let page = report::compared(&before, &after, &compare(&before, &after));
    assert!(page.contains("<h1>2 verdicts changed</h1>"), "{page}");
    let changes = data(&page)["changes"].clone();
    let verdicts = |place: usize, side: &str| changes[place][side][0]["verdict"].clone();
    assert_eq!(
        [
            verdicts(0, "before"),
            verdicts(0, "after"),
            verdicts(1, "before"),
            verdicts(1, "after")
        ],
        [json!("holds"), json!("violated"), json!("holds"), Value::Null]
    );
    assert_eq!(changes.as_array().unwrap().len(), 2);
}
