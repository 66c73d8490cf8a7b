//! What remains when the process that started everything is killed.
#![allow(clippy::unwrap_used, reason = "a test that fails may panic")]

use std::fs;
use std::os::unix::process::ExitStatusExt;
use std::path::{Path, PathBuf};
use std::thread;
use std::time::{Duration, Instant};

use stack::Folder;

mod world;

#[test]
#[ignore = "a process of its own, started by a test below"]
fn a_world_that_waits_to_be_killed() {
    let stores = world::stores();
    // Started from a thread that ends: its end must not be taken for that of the process.
    let shop = thread::scope(|scope| scope.spawn(|| stores.shop(&world::options(2)).unwrap()).join().unwrap());
    let servers = [stores.redis().unwrap(), stores.mariadb().unwrap(), shop.nginx()];
    let pids: Vec<String> = servers
        .into_iter()
        .chain(shop.instances())
        .map(|s| s.pid().to_string())
        .collect();
    assert!(!shop.instances()[0].has_exited());
    eprintln!("made: {}", pids.join(" "));
    wait_to_be_killed();
}

#[test]
#[ignore = "a process of its own, started by a test below"]
fn a_folder_that_waits_to_be_orphaned() {
    let folder = Folder::new().unwrap();
    eprintln!("made: {}", folder.path().display());
    wait_to_be_killed();
}

#[test]
fn no_child_outlives_a_parent_that_is_killed() {
    let (mut parent, said) = world::run_again("a_world_that_waits_to_be_killed");
    let pids: Vec<&str> = said.split(' ').collect();
    assert_eq!(pids.len(), 5);
    assert_eq!(pids.iter().filter(|pid| lives(pid)).count(), 5);
    parent.kill().unwrap();
    assert_eq!(parent.wait().unwrap().signal(), Some(9));
    let begun = Instant::now();
    while let Some(survivor) = pids.iter().find(|pid| lives(pid)) {
        assert!(begun.elapsed() < world::LIMIT, "process {survivor} lives on");
        thread::sleep(Duration::from_millis(5));
    }
}

#[test]
fn the_folder_of_a_killed_run_is_swept_by_the_next_and_that_of_a_live_one_is_not() {
    let (mut killed, dead) = world::run_again("a_folder_that_waits_to_be_orphaned");
    let (mut running, live) = world::run_again("a_folder_that_waits_to_be_orphaned");
    let (dead, live) = (PathBuf::from(dead), PathBuf::from(live));
    drop(Folder::new().unwrap());
    assert!(dead.exists());
    killed.kill().unwrap();
    killed.wait().unwrap();
    let own = Folder::new().unwrap();
    let found = [dead.exists(), live.exists(), own.path().exists()];
    running.kill().unwrap();
    running.wait().unwrap();
    assert_eq!(found, [false, true, true]);
}

#[test]
fn nothing_is_left_of_a_folder_that_is_dropped() {
    let stores = world::stores();
    let folder = stores.redis().unwrap().log().path.parent().unwrap().to_owned();
    assert!(folder.exists());
    drop(stores);
    assert!(!folder.exists());
}

/// The standard library may wake a parked thread for its own purposes.
fn wait_to_be_killed() -> ! {
    loop {
        thread::park();
    }
}

/// A process that waits to be reaped is dead. Orphans are reaped by whoever adopted them, at his leisure.
fn lives(pid: &str) -> bool {
    let state = fs::read_to_string(Path::new("/proc").join(pid).join("stat")).unwrap_or_default();
    state
        .rsplit_once(") ")
        .is_some_and(|(_, rest)| !rest.starts_with(['Z', 'X']))
}
