//! Pause, kill, restart and failover, played on Redis.
#![allow(clippy::unwrap_used, reason = "a test that fails may panic")]

use std::io::{ErrorKind, Read, Write};
use std::os::unix::net::UnixStream;
use std::time::Duration;

use stack::{Ready, Stores};

mod world;

fn connection(stores: &Stores) -> UnixStream {
    let path = stores.redis_url().strip_prefix("redis+unix://").unwrap();
    UnixStream::connect(path).unwrap()
}

/// Sends a command and reads the one line of its answer.
fn say(stream: &mut UnixStream, command: &str) -> std::io::Result<String> {
    write!(stream, "{command}\r\n")?;
    let mut line = Vec::new();
    while !line.ends_with(b"\r\n") {
        let mut byte = [0];
        stream.read_exact(&mut byte)?;
        line.push(byte[0]);
    }
    Ok(String::from_utf8(line).unwrap().trim().to_owned())
}

#[test]
fn both_stores_serve_as_soon_as_they_are_started() {
    let stores = world::stores();
    assert_eq!(say(&mut connection(&stores), "PING").unwrap(), "+PONG");
    let socket = stores
        .sql_url()
        .strip_prefix("mysql://root@localhost/oversell?socket=")
        .unwrap()
        .into();
    let database = std::path::Path::new(&socket).with_file_name("mariadb").join("oversell");
    Ready::MariaDb { socket, database }.check().unwrap();
}

#[test]
fn a_paused_redis_says_nothing_until_it_is_resumed() {
    let stores = world::stores();
    let redis = stores.redis().unwrap();
    let mut stream = connection(&stores);
    redis.pause().unwrap();
    stream.set_read_timeout(Some(Duration::from_millis(100))).unwrap();
    assert_eq!(say(&mut stream, "PING").unwrap_err().kind(), ErrorKind::WouldBlock);
    redis.resume().unwrap();
    stream.set_read_timeout(Some(world::LIMIT)).unwrap();
    let mut late = [0; 7];
    stream.read_exact(&mut late).unwrap();
    assert_eq!(&late, b"+PONG\r\n");
}

#[test]
fn a_redis_stands_still_as_soon_as_pause_returns() {
    let stores = world::stores();
    let redis = stores.redis().unwrap();
    for _ in 0..200 {
        redis.pause().unwrap();
        let stat = std::fs::read_to_string(format!("/proc/{}/stat", redis.pid())).unwrap();
        assert!(stat.contains(") T "), "{stat}");
        redis.resume().unwrap();
    }
}

#[test]
fn a_killed_redis_is_gone_at_once_and_comes_back_empty_at_the_same_address() {
    let stores = world::stores();
    let redis = stores.redis().unwrap();
    assert_eq!(say(&mut connection(&stores), "SET stock 1").unwrap(), "+OK");
    redis.kill().unwrap();
    assert!(redis.has_exited());
    assert!(redis.pause().unwrap_err().to_string().contains("restart it first"));
    redis.restart().unwrap();
    redis.wait_ready(world::LIMIT).unwrap();
    assert_eq!(say(&mut connection(&stores), "EXISTS stock").unwrap(), ":0");
}

#[test]
fn a_redis_that_keeps_everything_on_disk_brings_it_back_until_it_keeps_nothing_again() {
    let stores = world::stores();
    let redis = stores.redis().unwrap();
    let restart = || {
        redis.restart().unwrap();
        redis.wait_ready(world::LIMIT).unwrap();
    };
    assert_eq!(say(&mut connection(&stores), "SET stock 1").unwrap(), "+OK");
    assert!(!stores.keep_redis_on_disk(true).unwrap());
    assert_eq!(say(&mut connection(&stores), "SET lock mine PX 60000").unwrap(), "+OK");
    restart();
    assert_eq!(say(&mut connection(&stores), "EXISTS stock lock").unwrap(), ":2");
    assert_ne!(say(&mut connection(&stores), "PTTL lock").unwrap(), ":-1");
    assert!(stores.keep_redis_on_disk(false).unwrap());
    assert_eq!(say(&mut connection(&stores), "EXISTS stock lock").unwrap(), ":2");
    restart();
    assert_eq!(say(&mut connection(&stores), "EXISTS stock lock").unwrap(), ":0");
}

#[test]
fn a_promoted_replica_has_what_was_written_before_the_partition_and_lacks_what_came_after() {
    let stores = world::stores();
    let redis = stores.redis().unwrap();
    assert_eq!(say(&mut connection(&stores), "SET before 1").unwrap(), "+OK");
    let replica = stores.replicate_redis().unwrap();
    assert_eq!(say(&mut connection(&stores), "SET meanwhile 1").unwrap(), "+OK");
    let failover = replica.partition().unwrap();
    let (mut old, before) = (connection(&stores), redis.pid());
    assert_eq!(say(&mut old, "SET after 1").unwrap(), "+OK");
    assert!(stores.fail_over_redis(failover).unwrap() > 0);
    assert!(say(&mut old, "PING").is_err(), "the old one still serves");
    assert_ne!(redis.pid(), before);
    let mut promoted = connection(&stores);
    assert_eq!(say(&mut promoted, "EXISTS before meanwhile").unwrap(), ":2");
    assert_eq!(say(&mut promoted, "EXISTS after").unwrap(), ":0");
    assert_eq!(say(&mut promoted, "SET own 1").unwrap(), "+OK");
}

#[test]
fn a_failover_after_which_nothing_was_written_loses_nothing() {
    let stores = world::stores();
    let failover = stores.replicate_redis().unwrap().partition().unwrap();
    assert_eq!(stores.fail_over_redis(failover).unwrap(), 0);
}

#[test]
fn a_promoted_replica_can_be_followed_kept_on_disk_and_restarted_as_the_one_before_it() {
    let stores = world::stores();
    let redis = stores.redis().unwrap();
    for round in ["first", "second"] {
        let failover = stores.replicate_redis().unwrap().partition().unwrap();
        stores.fail_over_redis(failover).unwrap();
        assert_eq!(say(&mut connection(&stores), &format!("SET {round} 1")).unwrap(), "+OK");
    }
    stores.keep_redis_on_disk(true).unwrap();
    redis.restart().unwrap();
    redis.wait_ready(world::LIMIT).unwrap();
    assert_eq!(say(&mut connection(&stores), "EXISTS first second").unwrap(), ":2");
    let failover = stores.replicate_redis().unwrap().partition().unwrap();
    stores.fail_over_redis(failover).unwrap();
    redis.restart().unwrap();
    redis.wait_ready(world::LIMIT).unwrap();
    assert_eq!(say(&mut connection(&stores), "EXISTS first second").unwrap(), ":0");
}

#[test]
fn a_paused_redis_can_be_killed_and_restarted() {
    let stores = world::stores();
    let redis = stores.redis().unwrap();
    let before = redis.pid();
    redis.pause().unwrap();
    redis.restart().unwrap();
    redis.wait_ready(world::LIMIT).unwrap();
    assert_ne!(redis.pid(), before);
    assert_eq!(say(&mut connection(&stores), "PING").unwrap(), "+PONG");
}

#[test]
fn a_stopped_redis_ends_by_its_own_will_even_while_paused() {
    let stores = world::stores();
    let redis = stores.redis().unwrap();
    redis.pause().unwrap();
    assert!(redis.stop(world::LIMIT).unwrap());
    assert!(redis.log().tail.contains("bye bye"), "{}", redis.log().tail);
}

#[test]
fn waiting_for_a_dead_redis_is_an_error_with_the_end_of_its_log() {
    let stores = world::stores();
    let redis = stores.redis().unwrap();
    redis.kill().unwrap();
    let said = redis.wait_ready(world::LIMIT).unwrap_err().to_string();
    assert!(said.contains("ended before it was ready"), "{said}");
    assert!(said.contains("ready to accept connections"), "{said}");
}

#[test]
fn two_worlds_at_once_do_not_know_each_other() {
    let (one, other) = (world::stores(), world::stores());
    assert_eq!(say(&mut connection(&one), "SET stock 1").unwrap(), "+OK");
    assert_eq!(say(&mut connection(&other), "EXISTS stock").unwrap(), ":0");
    drop(one);
    assert_eq!(say(&mut connection(&other), "PING").unwrap(), "+PONG");
}
