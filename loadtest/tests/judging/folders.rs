//! A folder and its one list name the same things.

use std::collections::BTreeSet;
use std::fs;
use std::path::Path;

use loadtest::{pictures, report, threats};

/// The modules of a folder under `src/`, without the one that holds the list.
fn modules(folder: &str) -> BTreeSet<String> {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("src").join(folder);
    let entries = fs::read_dir(path).unwrap().map(|entry| entry.unwrap().path());
    let names = entries.map(|path| path.file_stem().unwrap().to_str().unwrap().to_owned());
    names.filter(|name| name != "mod").collect()
}

#[test]
fn every_threat_has_a_file_of_its_name_and_every_file_is_in_the_list() {
    let listed: Vec<String> = threats::all()
        .iter()
        .map(|threat| threat.name().replace('-', "_"))
        .collect();
    assert_eq!(
        listed.len(),
        listed.iter().collect::<BTreeSet<_>>().len(),
        "two threats have one name"
    );
    assert_eq!(listed.into_iter().collect::<BTreeSet<_>>(), modules("threats"));
}

#[test]
fn every_threat_is_found_by_its_name() {
    for threat in threats::all() {
        assert_eq!(threats::find(threat.name()).unwrap().name(), threat.name());
    }
    assert!(threats::find("weather").is_none());
}

#[test]
fn every_report_has_a_module_and_every_module_is_in_the_list() {
    // A report is named after its file, `result.<ending>`; its module after the form.
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
    // Stories are told when somebody asks for them, and stand in no file.
    let mut found = modules("report");
    assert!(found.remove("story"));
    assert_eq!(listed.into_iter().collect::<BTreeSet<_>>(), found);
}

#[test]
fn every_picture_has_a_module_of_its_name_and_every_module_is_in_the_list() {
    let name = |file: &str| file.strip_suffix(".svg").unwrap().to_owned();
    let listed: BTreeSet<String> = pictures::all()
        .iter()
        .map(|picture| name(picture.file_name()))
        .collect();
    // What they share.
    let mut modules = modules("pictures");
    assert!(modules.remove("svg") && modules.remove("holding"));
    assert_eq!(listed, modules);
}
