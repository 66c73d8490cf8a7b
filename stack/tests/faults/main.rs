//! The service for faults: who may use it, what it can strike, and what is left when a load test ends.
#![allow(clippy::unwrap_used, reason = "a test that fails may panic")]

mod world;

use std::io::{BufRead, BufReader, Read, Write};
use std::net::TcpStream;
use std::sync::mpsc::channel;
use std::thread;
use std::time::Duration;

use stack::{Faults, ServiceKind};

use self::world::{COMES_WITHIN, DISK, FIRST, SECOND, TOKEN, World, echoes, from, shop, urls};

#[test]
fn only_the_token_opens_the_service_and_one_load_test_has_it_at_a_time() {
    let world = World::start();
    for wrong in ["", "0123456789abcde", "0123456789abcdef0", "servers"] {
        assert_eq!(world.says(&[wrong, "servers"]), ["error another token", ""], "{wrong}");
    }
    let refused = Faults::connect(&world.at.to_string(), "another token").err().unwrap();
    assert!(format!("{refused:#}").contains("another token"), "{refused:#}");
    assert!(!format!("{refused:#}").contains(TOKEN));
    let first = world.connect();
    let (sent, taken) = channel();
    let at = world.at.to_string();
    thread::spawn(move || sent.send(Faults::connect(&at, TOKEN).is_ok()));
    drop(first);
    // The second one waited for it.
    assert!(taken.recv_timeout(COMES_WITHIN).unwrap());
}

#[test]
fn it_strikes_only_what_it_has_and_only_in_its_own_ways() {
    let world = World::start();
    let refused = [
        ("process mariadb kill", "error no such server"),
        ("process ../redis kill", "error no such server"),
        ("process . kill", "error no such server"),
        ("process redis remove", "error no such command"),
        ("process redis restore", "error no such command"),
        ("relay mariadb 127.0.0.2 cut", "error no relay before such a server"),
        ("relay redis everybody cut", "error no address of a client"),
        ("relay redis 127.0.0.2 rm", "error no change of a relay"),
        (
            "forward redis 127.0.0.2:1",
            "error only a relay before an instance can be directed",
        ),
        ("clock mariadb", "error no such server"),
        ("clock ../redis 1", "error no such server"),
        ("clock 127.0.0.4 1", "error no such server"),
        ("process instances kill", "error no such server"),
        ("clock redis soon", "error the setting is no number"),
        ("disk 127.0.0.2 1", "error it has no disk of its own"),
        ("disk redis 1 2", "error no such request"),
        ("run sh", "error no such request"),
    ];
    for (request, reply) in refused {
        let said = world.says(&[TOKEN, request]).remove(1);
        assert!(said.starts_with(reply), "{request}: {said}");
        // Each of these load tests ends with this.
        assert_eq!(world.command(), "restore", "{request}");
    }
    let all = format!("ok {FIRST} {SECOND} redis");
    assert_eq!(
        world.says(&[TOKEN, "servers", "relays", "clocks", "disks", "journals"]),
        ["ok", &all, "ok redis redis-spare", &all, "ok redis", "ok redis"]
    );
}

#[test]
fn a_server_is_killed_and_started_and_its_processes_are_told_apart() {
    let world = World::start();
    let faults = world.connect();
    let stores = faults.stores(&urls(), None).unwrap();
    assert_eq!(world.command(), "start");
    let redis = stores.redis().unwrap();
    assert_eq!((redis.pid(), redis.has_exited()), (7, false));
    redis.kill().unwrap();
    assert_eq!(
        (world.command().as_str(), redis.pid(), redis.has_exited()),
        ("kill", 7, true)
    );
    redis.restart().unwrap();
    assert_eq!([world.command(), world.command()], ["kill", "start"]);
    assert_eq!((redis.pid(), redis.has_exited()), (8, false));
    redis.pause().unwrap();
    redis.resume().unwrap();
    assert_eq!([world.command(), world.command()], ["pause", "start"]);
    assert!(stores.mariadb().is_none());
}

#[test]
fn a_server_loses_power_and_says_what_is_gone() {
    let world = World::start();
    let faults = world.connect();
    let stores = faults.stores(&urls(), None).unwrap();
    let redis = stores.redis().unwrap();
    redis.restart_with_journal().unwrap();
    let commands: Vec<_> = (0..5).map(|_| world.command()).collect();
    assert_eq!(commands, ["start", "kill", "begin", "kill", "start"]);
    let unsynced = redis.unsynced().unwrap();
    assert_eq!((unsynced.length().unwrap(), unsynced.is_synced().unwrap()), (640, true));
    let loss = redis.lose_power().unwrap();
    assert_eq!((loss.writes, loss.bytes, loss.files, loss.names), (3, 300, 2, 1));
    assert!(loss.is_all_since(600) && !loss.is_all_since(500));
    drop((stores, faults));
    // A server that runs loses nothing.
    let said = world.says(&[TOKEN, "process redis lose"]).remove(1);
    assert_eq!(said, "error it failed, and the log of its container says why");
}

#[test]
fn an_instance_is_asked_to_end_and_another_process_takes_its_place() {
    let world = World::start();
    let faults = world.connect();
    let shop = shop(&faults);
    let second = &shop.instances()[1];
    assert_eq!(
        (second.name(), second.pid(), second.has_exited()),
        ("instance-2", 7, false)
    );
    assert!(second.stop(COMES_WITHIN).unwrap());
    assert_eq!((second.pid(), second.has_exited()), (7, true));
    second.restart().unwrap();
    assert_eq!((second.pid(), second.has_exited()), (8, false));
    let commands: Vec<_> = world.of_instances[1].try_iter().collect();
    assert_eq!(
        commands,
        ["start", "keep-ended", "runs", "stop", "kill", "start", "runs"]
    );
    assert_eq!(
        world.of_instances[0].try_iter().collect::<Vec<_>>(),
        ["start", "keep-ended"]
    );
}

#[test]
fn an_instance_that_ends_by_itself_stays_ended_until_it_is_started() {
    let world = World::start();
    let faults = world.connect();
    let shop = shop(&faults);
    let [first, second] = shop.instances() else {
        panic!("two instances");
    };
    world.end_by_itself(SECOND);
    assert_eq!([first.has_exited(), second.has_exited()], [false, true]);
    second.restart().unwrap();
    assert_eq!((second.pid(), second.has_exited()), (8, false));
}

#[test]
fn the_clocks_of_a_server_and_of_one_instance_are_set_and_are_right_when_the_load_test_is_gone() {
    let world = World::start();
    let faults = world.connect();
    let stores = faults.stores(&urls(), None).unwrap();
    let shop = shop(&faults);
    let (redis, second) = (stores.redis().unwrap().clock().unwrap(), shop.clocks().nth(1).unwrap());
    redis.run_ahead(Duration::from_secs(3)).unwrap();
    redis.run_ahead(Duration::from_secs(1)).unwrap();
    second.step_back(Duration::from_secs(3)).unwrap();
    assert_eq!(world.clocks(), [(4_000_000_000, 0), (0, 0), (-3_000_000_000, 0)]);
    world.count("redis/clock", 5);
    assert_eq!((redis.told().unwrap(), second.told().unwrap()), (5, 0));
    // Only the one that is behind is set right.
    redis.catch_up().unwrap();
    second.catch_up().unwrap();
    assert_eq!(world.clocks(), [(4_000_000_000, 5), (0, 0), (0, 0)]);
    drop((stores, shop, faults));
    // The next load test waits until all is undone.
    drop(world.connect());
    assert_eq!(world.clocks(), [(0, 0), (0, 0), (0, 0)]);
}

#[test]
fn the_disk_of_a_server_is_full_until_there_is_room_or_the_load_test_is_gone() {
    let world = World::start();
    let faults = world.connect();
    let stores = faults.stores(&urls(), None).unwrap();
    let disk = stores.redis().unwrap().disk().unwrap();
    disk.fill().unwrap();
    assert_eq!(world.numbers(DISK), (1, 0));
    world.count(DISK, 3);
    assert_eq!((disk.failed().unwrap(), disk.make_room().unwrap()), (3, 3));
    assert_eq!(world.numbers(DISK), (0, 0));
    disk.fill().unwrap();
    drop((stores, faults));
    // The next load test waits until all is undone.
    drop(world.connect());
    assert_eq!(world.numbers(DISK), (0, 0));
}

#[test]
fn one_instance_is_cut_off_alone() {
    let world = World::start();
    let shop = shop(&world.connect());
    let mut streams = [from(FIRST, world.relay), from(SECOND, world.relay)];
    for stream in &mut streams {
        assert!(echoes(stream, "before"));
    }
    let [first] = shop.relays_of(0, ServiceKind::Redis) else {
        panic!("one process has one relay");
    };
    first.silence();
    streams[0].write_all(b"held back").unwrap();
    assert!(echoes(&mut streams[1], "meanwhile"));
    while first.affected() == 0 {
        thread::yield_now();
    }
    let [second] = shop.relays_of(1, ServiceKind::Redis) else {
        panic!("one process has one relay");
    };
    assert_eq!(second.affected(), 0);
    first.pass();
    let mut late = [0; 9];
    streams[0].read_exact(&mut late).unwrap();
    assert_eq!(&late, b"held back");
}

#[test]
fn everything_is_undone_when_a_load_test_is_gone() {
    let world = World::start();
    let said = world.says(&[TOKEN, "process redis pause", "relay redis 127.0.0.2 silence"]);
    assert_eq!(said, ["ok", "ok 7", "ok"]);
    assert_eq!([world.command(), world.command()], ["pause", "restore"]);
    assert!(echoes(&mut from(FIRST, world.relay), "again"));
}

#[test]
fn nobody_stays_connected_to_a_server_that_had_the_place_of_another_one() {
    let world = World::start();
    let mut faults = TcpStream::connect(world.at).unwrap();
    let mut replies = BufReader::new(faults.try_clone().unwrap()).lines();
    let mut says = |line: &str| {
        faults.write_all(format!("{line}\n").as_bytes()).unwrap();
        assert_eq!(replies.next().unwrap().unwrap(), "ok ", "{line}");
    };
    says(TOKEN);
    let mut before = from(FIRST, world.relay);
    assert!(echoes(&mut before, "redis"));
    says("swap redis redis-spare");
    // It is about to be closed.
    while echoes(&mut before, "redis") {}
    let mut meanwhile = from(FIRST, world.relay);
    let mut answer = [0; 2];
    meanwhile.write_all(b"ab").unwrap();
    meanwhile.read_exact(&mut answer).unwrap();
    assert_eq!(&answer, b"ss");
    drop((faults, replies));
    // The next load test comes when everything is undone.
    drop(world.connect());
    assert_eq!(meanwhile.read(&mut answer).unwrap_or_default(), 0, "it is closed");
    assert!(echoes(&mut from(FIRST, world.relay), "again"));
}
