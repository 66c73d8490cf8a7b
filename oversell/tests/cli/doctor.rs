//! `doctor` on machines that have all servers, none, or only the means to fetch them.

use std::fs::{self, Permissions};
use std::os::unix::fs::PermissionsExt;
use std::path::Path;
use std::process::Output;

use crate::harness::{output, oversell, stdout};

/// Runs `doctor` with these programs on its PATH and an empty cache.
fn on_a_machine_with(programs: &[&str], arguments: &[&str]) -> Output {
    let machine = tempfile::tempdir().unwrap();
    for program in programs {
        let path = machine.path().join(program);
        fs::write(&path, "#!/bin/sh\necho version 1\n").unwrap();
        fs::set_permissions(&path, Permissions::from_mode(0o755)).unwrap();
    }
    oversell(&[&["doctor"], arguments].concat())
        .env("PATH", machine.path())
        .env("XDG_CACHE_HOME", machine.path().join("cache"))
        .env("TMPDIR", machine.path())
        .output()
        .unwrap()
}

/// Whether a server lies in a folder that is searched whatever the PATH is.
fn has_sbin(names: &[&str]) -> bool {
    let folders = ["/usr/sbin", "/usr/local/sbin"];
    folders
        .iter()
        .any(|folder| names.iter().any(|name| Path::new(folder).join(name).exists()))
}

#[test]
fn doctor_names_every_part() {
    let said = stdout(&output(&["doctor"]));
    for part in ["Redis", "MariaDB", "nginx", "PostgreSQL", "ZooKeeper", "etcd"] {
        assert!(said.contains(part), "{said}");
    }
}

#[test]
fn on_a_fresh_machine_doctor_says_that_a_run_will_fetch_what_is_missing() {
    let said = on_a_machine_with(&["apt-get", "dpkg"], &[]);
    let text = stdout(&said);
    assert_eq!(said.status.code(), Some(0), "{text}");
    for (part, names) in [
        ("Redis", &["redis-server", "valkey-server"][..]),
        ("MariaDB", &["mariadbd", "mysqld"]),
        ("nginx", &["nginx"]),
    ] {
        let line = text.lines().find(|line| line.starts_with(part)).unwrap();
        assert!(
            line.contains("will be fetched at the first run") != has_sbin(names),
            "{text}"
        );
    }
    assert!(text.contains("Next: oversell run"), "{text}");
}

#[test]
fn a_part_that_cannot_be_had_is_said_with_the_command_that_installs_it() {
    if has_sbin(&["redis-server", "valkey-server"]) {
        return;
    }
    for (programs, arguments, why) in [
        (&[][..], &[][..], "apt-get"),
        (&["apt-get", "dpkg"], &["--no-fetch"], "forbidden"),
    ] {
        let said = on_a_machine_with(programs, arguments);
        let text = stdout(&said);
        assert_eq!(said.status.code(), Some(69), "{text}");
        assert!(text.contains("Redis      missing") && text.contains(why), "{text}");
        assert!(text.contains("install redis"), "{text}");
    }
}

#[test]
fn a_part_that_only_some_strategies_need_is_no_obstacle_and_its_command_is_said() {
    if has_sbin(&["redis-server", "valkey-server", "mariadbd", "mysqld", "nginx", "etcd"]) {
        return;
    }
    let said = on_a_machine_with(&["redis-server", "mariadbd", "nginx"], &["--no-fetch"]);
    let text = stdout(&said);
    assert_eq!(said.status.code(), Some(0), "{text}");
    for (part, package) in [("ZooKeeper", "libzookeeper-java"), ("etcd", "etcd-server")] {
        let skipped = format!("{part:<10} missing: the strategies that need it are skipped");
        assert!(text.contains(&skipped), "{text}");
        let command = text.lines().find(|line| line.contains(package)).unwrap();
        assert!(
            command.contains("apt-get install") || command.contains("brew install"),
            "{text}"
        );
    }
    assert!(text.contains("All there. Next: oversell run"), "{text}");
}

#[test]
fn a_store_that_runs_elsewhere_is_not_looked_for_and_its_password_not_said() {
    let url = "redis://:hidden@127.0.0.1:9";
    let said = stdout(&on_a_machine_with(&[], &["--redis", url]));
    assert!(said.contains("Redis      runs elsewhere"), "{said}");
    assert!(!said.contains("hidden"), "{said}");
}

#[test]
fn doctor_says_whether_the_labs_can_be_played_here() {
    let ready = output(&["doctor", "--workshop"]);
    let said = stdout(&ready);
    assert_eq!(ready.status.code(), Some(0), "{said}");
    for part in ["✓ Redis", "✓ MariaDB", "✓ nginx", "✓ demo", "✓ explore"] {
        assert!(said.contains(part), "{said}");
    }
    let missing = on_a_machine_with(&[], &["--workshop", "--no-fetch"]);
    if !has_sbin(&["redis-server"]) {
        assert_eq!(missing.status.code(), Some(69));
        assert!(stdout(&missing).contains("✗ Redis"), "{}", stdout(&missing));
    }
}
