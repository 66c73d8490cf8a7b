//! The end of all children and folders when the process that started them is killed.
#![allow(clippy::unwrap_used, reason = "a test that fails may panic")]

use std::fs;
use std::path::PathBuf;
use std::thread;
use std::time::{Duration, Instant};

use stack::{Folder, Launch, Ready, Service};
use world::Helper;

mod world;

#[test]
#[ignore = "a process of its own, started by a test below"]
fn a_world_that_waits_to_be_killed() {
    let stores = world::stores();
    // Started from a thread that ends: its end must not be taken for that of the process.
    let shop = thread::scope(|scope| scope.spawn(|| stores.shop(&world::options(2)).unwrap()).join().unwrap());
    let servers = [
        stores.redis().unwrap(),
        stores.mariadb().unwrap(),
        shop.nginx().unwrap(),
    ];
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
    let parent = Helper::run("a_world_that_waits_to_be_killed");
    let groups: Vec<i32> = parent.made.split(' ').map(|pid| pid.parse().unwrap()).collect();
    assert_eq!(groups.iter().filter(|&&group| lives(group)).count(), 5);
    drop(parent);
    let begun = Instant::now();
    while let Some(survivor) = groups.iter().find(|&&group| lives(group)) {
        assert!(
            begun.elapsed() < world::LIMIT,
            "something of process group {survivor} lives on"
        );
        thread::sleep(Duration::from_millis(5));
    }
}

#[test]
fn a_program_that_does_not_end_when_asked_is_killed_and_did_not_end_by_itself() {
    let folder = Folder::new().unwrap();
    let deaf = Launch::new("/bin/sh").args(["-c", "trap '' TERM; echo deaf; while :; do sleep 1; done"]);
    let service = Service::start("deaf", deaf, Ready::Ended, folder.path()).unwrap();
    let begun = Instant::now();
    while !service.log().tail.contains("deaf") {
        assert!(begun.elapsed() < world::LIMIT, "the program does not run");
        thread::sleep(Duration::from_millis(5));
    }
    assert!(!service.stop(Duration::from_millis(50)).unwrap());
    assert!(service.has_exited());
}

#[test]
fn the_folder_of_a_killed_run_is_swept_by_the_next_and_that_of_a_live_one_is_not() {
    let killed = Helper::run("a_folder_that_waits_to_be_orphaned");
    let running = Helper::run("a_folder_that_waits_to_be_orphaned");
    let [dead, live] = [&killed, &running].map(|helper| PathBuf::from(&helper.made));
    drop(Folder::new().unwrap());
    assert!(dead.exists());
    drop(killed);
    let own = Folder::new().unwrap();
    assert_eq!([dead.exists(), live.exists(), own.path().exists()], [false, true, true]);
}

#[test]
fn nothing_is_left_of_stores_that_are_dropped() {
    let stores = world::stores();
    let servers = [stores.redis().unwrap(), stores.mariadb().unwrap()];
    let groups = servers.map(|server| i32::try_from(server.pid()).unwrap());
    let folder = servers[0].log().path.parent().unwrap().to_owned();
    assert!(folder.exists() && groups.into_iter().all(lives));
    drop(stores);
    assert!(!folder.exists());
    assert_eq!(groups.into_iter().find(|&group| lives(group)), None);
}

/// The standard library may wake a parked thread for its own purposes.
fn wait_to_be_killed() -> ! {
    loop {
        thread::park();
    }
}

/// Whether any process of the group is left: a server may have workers. One that waits to be reaped is dead: the
/// process that adopts an orphan may reap it late.
fn lives(group: i32) -> bool {
    let every = fs::read_dir("/proc").unwrap().flatten();
    let stats = every.filter_map(|entry| fs::read_to_string(entry.path().join("stat")).ok());
    // After the name in brackets: state, parent, process group.
    stats
        .filter_map(|stat| stat.rsplit_once(") ").map(|(_, rest)| rest.to_owned()))
        .any(|rest| {
            let fields: Vec<&str> = rest.split(' ').collect();
            !["Z", "X"].contains(&fields[0]) && fields[2] == group.to_string()
        })
}
