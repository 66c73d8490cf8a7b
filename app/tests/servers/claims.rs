//! What mechanisms claim: each says only where it differs from its family, and each claim has an edit that would break it.

use std::collections::BTreeSet;
use std::fs::read_to_string;
use std::path::Path;

use app::mechanism::Mechanism;
use app::strategies::Entry;

/// Every mechanism once, although it may sell from several stores.
fn mechanisms() -> Vec<Mechanism> {
    let mut seen = BTreeSet::new();
    let all = Entry::all().into_iter().map(|entry| entry.mechanism);
    all.filter(|mechanism| seen.insert(mechanism.name)).collect()
}

#[test]
fn a_mechanism_says_of_a_threat_only_one_thing_and_only_where_it_differs_from_its_family() {
    for mechanism in mechanisms() {
        let (name, claims, family) = (mechanism.name, mechanism.claims, mechanism.claims_like());
        let said = [claims.survives, claims.broken_by, claims.sometimes_broken_by].concat();
        let distinct: BTreeSet<_> = said.iter().collect();
        assert_eq!(distinct.len(), said.len(), "{name} names a threat twice: {said:?}");
        for (own, of_family, list) in [
            (claims.survives, family.survives().collect::<Vec<_>>(), "survives"),
            (claims.broken_by, family.broken_by().collect(), "broken_by"),
        ] {
            for threat in own {
                assert!(
                    !of_family.contains(threat),
                    "{name}: take \"{threat}\" out of {list}, {family:?} says so already"
                );
            }
        }
    }
}

#[test]
fn a_family_says_of_a_threat_only_one_thing() {
    for Mechanism { family, .. } in mechanisms() {
        let all: Vec<_> = family.survives().chain(family.broken_by()).collect();
        let distinct: BTreeSet<_> = all.iter().collect();
        assert_eq!(distinct.len(), all.len(), "{family:?} names a threat twice: {all:?}");
    }
}

/// An edit of mutations.toml, as far as this test reads it.
#[derive(Default)]
struct Edit {
    mechanism: String,
    file: String,
    from: String,
}

/// The edits of app/tests/mutations.toml, in which each value stands on one line.
fn edits(tests: &Path) -> Vec<Edit> {
    let mut edits = Vec::new();
    for line in read_to_string(tests.join("mutations.toml")).unwrap().lines() {
        match line.split_once(" = ") {
            _ if line == "[[mutation]]" => edits.push(Edit::default()),
            Some(("mechanism", value)) => edits.last_mut().unwrap().mechanism = text(value),
            Some(("file", value)) => edits.last_mut().unwrap().file = text(value),
            Some(("from", value)) => edits.last_mut().unwrap().from = text(value),
            _ => {}
        }
    }
    edits
}

/// A string of TOML: between single quotes as it stands, between double quotes with the escapes of JSON.
fn text(value: &str) -> String {
    match value.strip_prefix('\'').and_then(|value| value.strip_suffix('\'')) {
        Some(literal) => literal.to_owned(),
        None => serde_json::from_str(value).unwrap(),
    }
}

#[test]
fn each_mechanism_that_claims_to_survive_a_crowd_has_an_edit_that_takes_away_what_it_lives_by() {
    let tests = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests");
    let edits = edits(&tests);
    let mut failures = Vec::new();
    for mechanism in mechanisms() {
        let name = mechanism.name;
        if mechanism.survives().contains(&"crowd") && !edits.iter().any(|edit| edit.mechanism == name) {
            failures.push(format!(
                "{name} claims to survive \"crowd\" and has no edit: add to app/tests/mutations.toml\n\n\
                 [[mutation]]\nmechanism = \"{name}\"\nwhy = \"what the edit breaks\"\n\
                 file = \"the file that the edit is made in\"\nfrom = 'a text that stands once in that file'\n\
                 to = 'the text in its place, without which two buyers get the same unit'\n\n\
                 and run .ci/mutations {name}: a test has to fail\n"
            ));
        }
    }
    for Edit { mechanism, file, from } in edits {
        let source = read_to_string(tests.join("../..").join(&file)).unwrap_or_default();
        let times = source.matches(&from).count();
        if times != 1 {
            failures.push(format!(
                "the edit of {mechanism} no longer fits: `{from}` stands {times} times in {file}, not once; \
                 change `from` and `to` in app/tests/mutations.toml\n"
            ));
        }
    }
    assert!(failures.is_empty(), "{}", failures.join("\n"));
}
