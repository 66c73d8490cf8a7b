//! A strategy whose service is not on the machine.

use std::fs;
use std::os::unix::fs::symlink;
use std::path::{Path, PathBuf};

use crate::harness::{SMALL, oversell, stderr, stdout};

/// A cache that has all that every run needs, as far as this machine has fetched it, and no optional server.
fn cache_of_what_is_needed() -> tempfile::TempDir {
    let cache = tempfile::tempdir().unwrap();
    let ours = cache.path().join("oversell");
    fs::create_dir(&ours).unwrap();
    let home = std::env::var_os("XDG_CACHE_HOME")
        .map(PathBuf::from)
        .unwrap_or_else(|| Path::new(&std::env::var_os("HOME").unwrap()).join(".cache"));
    for entry in fs::read_dir(home.join("oversell")).into_iter().flatten().flatten() {
        let name = entry.file_name().into_string().unwrap();
        if name.starts_with("packages-") && !name.ends_with("-zookeeper") && !name.ends_with("-etcd") {
            symlink(entry.path(), ours.join(name)).unwrap();
        }
    }
    cache
}

#[test]
fn strategies_whose_service_cannot_be_had_are_skipped_with_the_next_command_and_the_others_played() {
    let path = std::env::var_os("PATH").unwrap();
    if std::env::split_paths(&path).any(|folder| folder.join("etcd").exists()) {
        return;
    }
    let (cache, results) = (cache_of_what_is_needed(), tempfile::tempdir().unwrap());
    let folder = results.path().to_str().unwrap();
    let strategies = ["--strategy", "token@redis,etcd@redis", "--instances", "2"];
    let arguments = [
        &["run", "--no-fetch", "--json", "--results", folder],
        &SMALL[..],
        &strategies,
    ];
    let ran = oversell(&arguments.concat())
        .env("XDG_CACHE_HOME", cache.path())
        .output()
        .unwrap();
    let said = stderr(&ran);
    assert!(said.contains("without etcd: etcd is not on this machine"), "{said}");
    assert!(
        said.contains("etcd-server") || said.contains("brew install etcd"),
        "{said}"
    );
    let result: serde_json::Value = serde_json::from_str(&stdout(&ran)).unwrap();
    for round in result["rounds"].as_array().unwrap() {
        let skipped = round["skipped"].as_str().unwrap_or_default();
        assert_eq!(
            skipped.contains("OVERSELL_ETCD_URL"),
            round["strategy"] == "etcd@redis",
            "{round}"
        );
    }
    assert_eq!(ran.status.code(), Some(2), "{said}");
}
