//! Folder and list agree: a strategy in a file that is not listed cannot be chosen.

use std::collections::BTreeSet;
use std::path::Path;

use app::stores;
use app::strategies::Entry;

/// Files of guards/ that hold what several of them share.
const NO_GUARDS: &[&str] = &["mod", "lock-key", "redis-lock"];

/// Files of strategies/ that are no mechanism: the list, the sale under a guard, and what mechanisms share.
const NO_STRATEGIES: &[&str] = &["mod", "catalogue", "guarded", "messages"];

/// The mechanisms that the files of a folder are named after.
fn files(folder: &str, but: &[&str]) -> BTreeSet<String> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("src").join(folder);
    let entries = folder.read_dir().unwrap().map(|entry| entry.unwrap().path());
    let code = entries.filter(|path| path.is_dir() || path.extension().is_some_and(|extension| extension == "rs"));
    let stems = code.map(|path| path.file_stem().unwrap().to_str().unwrap().replace('_', "-"));
    stems.filter(|stem| !but.contains(&stem.as_str())).collect()
}

/// Fails with the line to add, or with the name that has no file.
fn assert_listed(folder: &str, entry: &str, files: &BTreeSet<String>, listed: &BTreeSet<String>) {
    if let Some(name) = files.difference(listed).next() {
        let module = name.replace('-', "_");
        panic!(
            "app/src/{folder}/ has a file for {name}, which is not in the catalogue. Add `mod {module};` to \
             app/src/{folder}/mod.rs, below the last one of its lesson, and see that the file has a \
             `pub(super) const ENTRY: {entry}` whose name is \"{name}\""
        );
    }
    if let Some(name) = listed.difference(files).next() {
        panic!("the catalogue has {name}, and app/src/{folder}/ has no file of that name");
    }
}

#[test]
fn every_file_of_strategies_and_guards_is_in_the_catalogue_under_its_own_name() {
    let names = |is_guarded| {
        let entries = Entry::all().into_iter();
        let entries = entries.filter(move |entry| entry.is_guarded() == is_guarded);
        entries.map(|entry| entry.mechanism.name.to_owned()).collect()
    };
    assert_listed("guards", "GuardEntry", &files("guards", NO_GUARDS), &names(true));
    let strategies = files("strategies", NO_STRATEGIES);
    assert_listed("strategies", "NativeEntry", &strategies, &names(false));
}

#[test]
fn every_guard_stands_before_every_store_and_no_name_comes_twice() {
    let names: Vec<_> = Entry::all().into_iter().map(|entry| entry.name).collect();
    let distinct: BTreeSet<_> = names.iter().cloned().collect();
    assert_eq!(distinct.len(), names.len(), "{names:?}");
    for guard in files("guards", NO_GUARDS) {
        for store in stores::ALL {
            let name = format!("{guard}@{}", store.name);
            assert!(distinct.contains(&name), "{name}");
        }
    }
}

#[test]
fn every_store_has_a_file_and_every_file_a_store() {
    let listed: BTreeSet<_> = stores::ALL.iter().map(|store| store.name.to_owned()).collect();
    assert_eq!(files("stores", &["mod"]), listed);
}
