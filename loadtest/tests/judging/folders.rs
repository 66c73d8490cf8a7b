//! A folder and its list have the same entries.

use std::collections::BTreeSet;
use std::fs;
use std::path::Path;

use loadtest::report::{self, charts};
use loadtest::threats;

/// The modules of a folder under `src/`, without the one that holds the list.
fn modules(folder: &str) -> BTreeSet<String> {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("src").join(folder);
    let entries = fs::read_dir(path).unwrap().map(|entry| entry.unwrap().path());
    let names = entries.map(|path| path.file_stem().unwrap().to_str().unwrap().to_owned());
    names.filter(|name| name != "mod").collect()
}

/// Removes the exceptions, and fails where one of them is no longer a module.
fn without<const N: usize>(mut modules: BTreeSet<String>, exceptions: [&str; N]) -> BTreeSet<String> {
    for exception in exceptions {
        assert!(modules.remove(exception), "{exception} is no module");
    }
    modules
}

#[test]
fn every_threat_has_a_file_of_its_name_and_every_file_is_in_the_list() {
    let listed: Vec<String> = threats::all()
        .iter()
        .map(|threat| threat.name.replace('-', "_"))
        .collect();
    assert_eq!(
        listed.len(),
        listed.iter().collect::<BTreeSet<_>>().len(),
        "two threats have one name"
    );
    let (listed, files) = (listed.into_iter().collect::<BTreeSet<_>>(), modules("threats"));
    let unlisted: Vec<_> = files.difference(&listed).collect();
    assert!(
        unlisted.is_empty(),
        "add a line `mod NAME;` to loadtest/src/threats/mod.rs, and in the file a `pub(super) const THREAT: Threat` of the \
         same name with dashes, for: {unlisted:?}"
    );
    let without_file: Vec<_> = listed.difference(&files).collect();
    assert!(
        without_file.is_empty(),
        "no file has the name of these threats: {without_file:?}"
    );
}

#[test]
fn every_threat_is_found_by_its_name() {
    for threat in threats::all() {
        assert_eq!(threats::find(threat.name).unwrap().name, threat.name);
    }
    assert!(threats::find("weather").is_none());
}

#[test]
fn every_report_has_a_module_and_every_module_is_in_the_list() {
    // A report has the name of its file, `result.<ending>`, and its module has the name of the form.
    let form = |file: &str| match file.strip_prefix("result.").unwrap() {
        "md" => "markdown".to_owned(),
        ending => ending.to_owned(),
    };
    let listed: Vec<String> = report::all().iter().map(|report| form(report.file_name())).collect();
    assert_eq!(
        listed.len(),
        listed.iter().collect::<BTreeSet<_>>().len(),
        "two reports have one name"
    );
    // These modules write no file of their own into a run's folder.
    let found = without(modules("report"), ["charts", "story", "terminal_summary"]);
    assert_eq!(listed.into_iter().collect::<BTreeSet<_>>(), found);
}

#[test]
fn every_chart_has_a_module_of_its_name_and_every_module_is_in_the_list() {
    let name = |file: &str| file.strip_suffix(".svg").unwrap().to_owned();
    let listed: BTreeSet<String> = charts::all().iter().map(|chart| name(chart.file_name())).collect();
    // The charts share these modules.
    assert_eq!(listed, without(modules("report/charts"), ["svg", "safe_strategies"]));
}
