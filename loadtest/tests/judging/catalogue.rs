//! The catalogues that a shop may have.

use loadtest::shop::catalogue::{MAX_STRATEGIES, parse};
use loadtest::threats::check_claims;
use serde_json::{Value, json};

fn strategy(name: &str, claims: &[&str]) -> Value {
    json!({ "name": name, "store": "redis", "claims": claims })
}

/// Returns the reason why a catalogue is refused.
fn refusal(catalogue: &Value) -> String {
    let refused = parse(catalogue.to_string().as_bytes()).and_then(|strategies| check_claims(&strategies));
    format!("{:#}", refused.unwrap_err())
}

#[test]
fn a_catalogue_is_read_and_its_unknown_fields_are_ignored() {
    let mut known = strategy("token@redis", &["crowd", "second-instance", "crashed-holder"]);
    known["summary"] = json!("a lock | \u{1b}[31m");
    known["needs"] = json!([1, 2]);
    let read = parse(json!([known, strategy("mylock", &[])]).to_string().as_bytes()).unwrap();
    let names: Vec<_> = read
        .iter()
        .map(|strategy| (strategy.name.as_str(), strategy.mechanism()))
        .collect();
    assert_eq!(names, [("token@redis", "token"), ("mylock", "mylock")]);
    assert_eq!(read[0].claims, ["crowd", "second-instance", "crashed-holder"]);
}

#[test]
fn a_text_that_is_not_a_catalogue_is_refused_with_a_reason() {
    let many: Vec<Value> = (0..=MAX_STRATEGIES)
        .map(|n| strategy(&format!("s{n}@redis"), &[]))
        .collect();
    let mut other_store = strategy("a@redis", &[]);
    other_store["store"] = json!("paper");
    let table = [
        (json!({}), "it is not a catalogue"),
        (json!([other_store]), "it is not a catalogue"),
        (json!([]), "it names no strategy"),
        (json!(many), "at most 500"),
        (
            json!([
                strategy("a@redis", &[]),
                strategy("b@redis", &[]),
                strategy("a@redis", &[])
            ]),
            "it names a@redis twice",
        ),
    ];
    for (catalogue, expected) in table {
        let said = refusal(&catalogue);
        assert!(said.contains(expected), "{said}");
    }
}

#[test]
fn unreadable_text_is_shown_escaped() {
    let mut evil = strategy("a@redis", &[]);
    evil["store"] = json!("\u{1b}[2Jpaper\u{202e}");
    let said = refusal(&json!([evil]));
    assert!(
        said.contains("paper") && said.chars().all(|c| c.is_ascii_graphic() || c == ' '),
        "{said:?}"
    );
}

#[test]
fn a_name_that_could_forge_a_cell_is_refused_and_shown_escaped() {
    let long = "x".repeat(65);
    for name in [
        "",
        "a b",
        "a|b@redis",
        "a\n@redis",
        "\u{1b}[31mred",
        "evil\u{202e}",
        "<script>",
        "`a`",
        &long,
    ] {
        let said = refusal(&json!([strategy(name, &[])]));
        assert!(
            said.contains("is not a valid name") && said.chars().all(|c| c.is_ascii_graphic() || c == ' '),
            "{said}"
        );
    }
}

#[test]
fn a_misspelt_claim_is_refused_with_a_suggestion() {
    let table = [
        ("second-instnace", "second-instance"),
        ("Crowd", "crowd"),
        ("crashed_holder", "crashed-holder"),
        // A control is not a threat, and no name is similar.
        ("one-buyer", ""),
        ("\u{1b}[2J", ""),
    ];
    for (claim, meant) in table {
        let said = refusal(&json!([strategy("a@redis", &["crowd", claim])]));
        assert!(
            said.contains("a@redis claims") && said.contains("not a threat"),
            "{said}"
        );
        assert!(!said.contains('\u{1b}'), "{said:?}");
        assert!(said.contains(&format!("did you mean \"{meant}")), "{said}");
    }
}
