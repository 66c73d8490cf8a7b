//! `docs/result.schema.json` describes exactly the results that the experiment writes.

use std::fs;

use jsonschema::Validator;
use loadtest::audit::Finding;
use loadtest::phase::Phase;
use loadtest::plan::soak::Soak;
use loadtest::plan::{Wanted, rounds};
use loadtest::report;
use loadtest::result::{RoundResult, RunResult};
use loadtest::shop::catalogue::Strategy;
use loadtest::threats;
use loadtest::trace::IncidentKind;
use serde_json::{Value, json};

use crate::runner::{LOAD, Trial, TrialRunner, root};

fn schema() -> Validator {
    let text = fs::read_to_string(root().join("docs/result.schema.json")).unwrap();
    let schema: Value = serde_json::from_str(&text).unwrap();
    jsonschema::draft202012::meta::validate(&schema).unwrap();
    jsonschema::draft202012::new(&schema).unwrap()
}

/// Returns the objections of the schema to a result, by place.
fn objections(schema: &Validator, result: &Value) -> Vec<String> {
    let errors = schema.iter_errors(result);
    errors
        .map(|error| format!("{}: {error}", error.instance_path()))
        .collect()
}

fn written(run: &RunResult) -> Value {
    let report = report::all()
        .into_iter()
        .find(|report| report.file_name() == "result.json")
        .unwrap();
    serde_json::from_str(&report.render(run)).unwrap()
}

fn skipped() -> RoundResult {
    let strategy = json!({ "name": "lie@sql", "store": "sql", "claims": [] });
    let strategy: Strategy = serde_json::from_value(strategy).unwrap();
    let wanted = Wanted {
        threats: threats::all().iter().collect(),
        instances: vec![1],
        load: LOAD,
        repeats: 1,
    };
    RoundResult::skipped(&rounds(&[strategy], &wanted)[0], "not here".to_owned())
}

#[test]
fn the_results_of_the_experiment_match_the_schema() {
    let schema = schema();
    let runner = TrialRunner::open();
    for lie in ["plain", "oversells-at-zero", "dead-500", "missing-row"] {
        let trial = Trial {
            lie,
            threats: &["second-instance"],
            instances: 2,
            load: LOAD,
            repeats: 1,
        };
        let mut run = runner.try_shop(&trial).run;
        assert!(!run.rounds.is_empty(), "{lie}");
        assert_eq!(objections(&schema, &written(&run)), [""; 0], "{lie}");
        run.rounds.push(skipped());
        run.ended_early = Some("after 3 of 9 rounds".to_owned());
        run.soak = Some(Soak::new(200_000, Some(7)));
        assert_eq!(
            objections(&schema, &written(&run)),
            [""; 0],
            "{lie} with all that a result can have"
        );
    }
}

#[test]
fn every_finding_is_in_the_schema_and_explained_in_the_contract_and_the_page_of_verdicts() {
    let text = |file| fs::read_to_string(root().join(file)).unwrap();
    let schema: Value = serde_json::from_str(&text("docs/result.schema.json")).unwrap();
    let properties = schema
        .pointer("/$defs/findings/properties")
        .unwrap()
        .as_object()
        .unwrap();
    // Overlap is the one more: it is no finding and decides nothing.
    assert_eq!(properties.len(), Finding::ALL.len() + 1);
    let shown = schema.pointer("/$defs/story/properties/shows/enum").unwrap();
    assert_eq!(shown, &serde_json::to_value(Finding::ALL).unwrap());
    for finding in Finding::ALL {
        assert!(properties.contains_key(finding.name()), "{finding:?}");
        assert!(serde_json::to_value(finding).unwrap() == finding.name(), "{finding:?}");
        for file in ["docs/contract.md", "docs/verdict.md"] {
            assert!(
                text(file).contains(&format!("\n| `{}` |", finding.name())),
                "{finding:?} in {file}"
            );
        }
    }
}

#[test]
fn the_schema_names_every_phase() {
    let text = fs::read_to_string(root().join("docs/result.schema.json")).unwrap();
    let schema: Value = serde_json::from_str(&text).unwrap();
    let named = schema.pointer("/$defs/round/properties/phase/enum").unwrap();
    assert_eq!(named, &serde_json::to_value(Phase::ALL).unwrap());
}

#[test]
fn the_schema_names_every_event_of_a_story() {
    let text = fs::read_to_string(root().join("docs/result.schema.json")).unwrap();
    let schema: Value = serde_json::from_str(&text).unwrap();
    let events = schema.pointer("/$defs/story/properties/events/items").unwrap();
    let named = events.pointer("/properties/what/enum").unwrap();
    let named: Vec<String> = serde_json::from_value(named.clone()).unwrap();
    let mut kinds = incident_kinds();
    // Only the stories of the explorer have it; they are not in a result.
    kinds.retain(|kind| kind != "worked");
    assert_eq!(named, kinds);
}

/// Returns the names of all kinds of incidents, as the error of serde lists them: a list of our own could lack one.
fn incident_kinds() -> Vec<String> {
    let error = serde_json::from_str::<IncidentKind>("\"\"").unwrap_err().to_string();
    let quoted = error.split('`').skip(1).step_by(2);
    quoted.skip(1).map(str::to_owned).collect()
}

#[test]
fn the_schema_refuses_a_result_that_is_spoiled_in_one_place() {
    let schema = schema();
    let good: Value = serde_json::from_str(include_str!("good.json")).unwrap();
    assert_eq!(objections(&schema, &good), [""; 0]);
    let spoiled = [
        ("/schema_version", json!(1)),
        ("/ended_early", json!("")),
        ("/as_designed", json!("yes")),
        ("/soak", json!({"purchases": 200_000})),
        ("/soak", json!({"purchases": 200_000, "seed": -7})),
        ("/started_at", json!("yesterday")),
        ("/environment/hostname", json!("example")),
        ("/rounds/0/verdict", json!("passed")),
        ("/rounds/0/strategy", json!("lua|redis")),
        ("/rounds/0/phase", json!("before-lunch")),
        ("/rounds/0/buyers", json!(0)),
        ("/rounds/0/items", json!(0)),
        ("/rounds/0/told/sold", json!(1.5)),
        ("/rounds/0/told/sold", Value::Null),
        ("/rounds/0/told/refused", json!(1)),
        ("/rounds/0/findings/oversold", json!(-1)),
        ("/rounds/0/findings/wrong", json!(0)),
        ("/rounds/0/latency_us/sold/p42", json!(1)),
        ("/rounds/0/inconclusive", json!("a reason, though it holds")),
        ("/rounds/0/note", json!("")),
        ("/rounds/0/inconclusive_before", json!([])),
        ("/rounds/0/jain", json!(1.5)),
        ("/rounds/0/reconciled", json!({"finished": 1})),
        ("/rounds/0/longest_wait_us", json!(-1)),
        ("/rounds/1/busy_s", json!("3 s")),
        ("/rounds/1/busy_s", json!(-0.1)),
        ("/rounds/0/family", json!(7)),
        ("/rounds/0/findings/overlap", json!(3)),
        ("/rounds/1/verdict", json!("holds")),
        ("/rounds/1/findings/overlap/pairs", json!(-1)),
        ("/rounds/1/story/shows", json!("overlap")),
        ("/rounds/1/story/purchases", json!([])),
        ("/rounds/1/story/steps/0/role", json!("dance")),
        ("/rounds/1/story/steps/0/times", json!(0)),
        ("/rounds/1/story/steps/1/worker", json!({"name": "reconciler"})),
    ];
    for (place, value) in spoiled {
        let mut result = good.clone();
        let (parent, name) = place.rsplit_once('/').unwrap();
        let parent = result.pointer_mut(parent).unwrap().as_object_mut().unwrap();
        parent.insert(name.to_owned(), value.clone());
        assert_ne!(objections(&schema, &result), [""; 0], "{place} = {value}");
    }
    for place in [
        "/rounds",
        "/rounds/0/findings/overlap",
        "/rounds/0/findings/false_refusal",
        "/rounds/0/facts/explained",
        "/rounds/1/findings/overlap/longest_us",
        "/rounds/1/story/purchases/0/told",
        "/rounds/1/story/steps/0/said",
        "/environment/redis",
    ] {
        let mut result = good.clone();
        let (parent, name) = place.rsplit_once('/').unwrap();
        let parent = result.pointer_mut(parent).unwrap().as_object_mut().unwrap();
        assert!(parent.remove(name).is_some(), "{place}");
        assert_ne!(objections(&schema, &result), [""; 0], "without {place}");
    }
}

#[test]
fn every_committed_result_matches_the_schema() {
    let schema = schema();
    // Without a results folder, no result was committed yet.
    let runs = fs::read_dir(root().join("results")).into_iter().flatten();
    let files = runs
        .map(|run| run.unwrap().path().join("result.json"))
        .filter(|file| file.exists());
    for file in files {
        let result: Value = serde_json::from_slice(&fs::read(&file).unwrap()).unwrap();
        assert_eq!(objections(&schema, &result), [""; 0], "{}", file.display());
    }
}
