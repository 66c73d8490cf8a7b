//! Folder and list agree: a file that nobody listed is a strategy that nobody can choose.

use std::collections::BTreeSet;
use std::path::Path;

use crate::harness::Instance;

/// The mechanisms that the files of a folder are named after.
fn files(folder: &str, but: &[&str]) -> BTreeSet<String> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("src").join(folder);
    let entries = folder.read_dir().unwrap().map(|entry| entry.unwrap().path());
    let code = entries.filter(|path| path.is_dir() || path.extension().is_some_and(|extension| extension == "rs"));
    let stems = code.map(|path| path.file_stem().unwrap().to_str().unwrap().replace('_', "-"));
    stems.filter(|stem| !but.contains(&stem.as_str())).collect()
}

#[tokio::test]
async fn every_file_of_strategies_and_guards_is_in_the_catalogue_under_its_own_name() {
    let instance = Instance::lab().await;
    let guards = files("guards", &["mod"]);
    let files: BTreeSet<_> = files("strategies", &["mod", "guarded"])
        .union(&guards)
        .cloned()
        .collect();
    let catalogue = instance.shop.catalogue.iter();
    let listed: BTreeSet<_> = catalogue.map(|strategy| strategy.about().name.to_owned()).collect();
    assert_eq!(files, listed);
}

#[tokio::test]
async fn every_guard_stands_before_both_stores_and_no_name_comes_twice() {
    let instance = Instance::lab().await;
    let catalogue = instance.shop.catalogue.iter();
    let names: Vec<_> = catalogue
        .map(|strategy| app::strategies::name(strategy.as_ref()))
        .collect();
    let distinct: BTreeSet<_> = names.iter().cloned().collect();
    assert_eq!(distinct.len(), names.len(), "{names:?}");
    for guard in files("guards", &["mod"]) {
        for store in ["redis", "sql"] {
            assert!(distinct.contains(&format!("{guard}@{store}")), "{guard}@{store}");
        }
    }
}
