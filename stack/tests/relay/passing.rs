//! Bytes that pass, at once or late, and connections that end.

use std::io::{BufRead, Write};
use std::time::Duration;

use stack::Direction;

use super::{Client, NOTHING_COMES, Relayed};

/// Longer than any test.
const FOR_EVER: Duration = Duration::from_secs(3_600);

#[test]
fn what_is_passed_on_arrives_in_both_directions() {
    let world = Relayed::new();
    let mut client = world.client();
    assert_eq!(client.ask("SET a 1"), "+OK");
    world.until("EXISTS a", ":1");
    let large = "x".repeat(1024 * 1024);
    assert_eq!(
        client.ask(&format!(
            "*3\r\n$3\r\nSET\r\n$5\r\nlarge\r\n${}\r\n{large}",
            large.len()
        )),
        "+OK"
    );
    assert_eq!(client.ask("STRLEN large"), format!(":{}", large.len()));
    client.tell("GET large");
    assert_eq!((client.hear(), client.hear()), (format!("${}", large.len()), large));
    assert_eq!(world.relay.affected(), 0);
}

#[test]
fn a_delayed_reply_comes_after_the_store_has_acted_and_in_its_turn() {
    let world = Relayed::new();
    let mut client = world.client();
    world.relay.delay(Direction::FromStore, FOR_EVER);
    client.tell("LPUSH a 1");
    client.tell("LPUSH a 2");
    world.until("LLEN a", ":2");
    client.hears_nothing();
    assert!(world.relay.affected() > 0);
    world.relay.delay(Direction::FromStore, Duration::from_millis(1));
    assert_eq!((client.hear(), client.hear()), (":1".to_owned(), ":2".to_owned()));
    assert_eq!(client.ask("LPUSH a 3"), ":3");
}

#[test]
fn a_delayed_request_reaches_the_store_only_when_it_is_due() {
    let world = Relayed::new();
    let mut client = world.client();
    assert_eq!(client.ask("SET a 1"), "+OK");
    world.relay.delay(Direction::ToStore, FOR_EVER);
    client.tell("SET a 2");
    client.hears_nothing();
    assert_eq!(Client::at(&world.redis).ask("STRLEN a"), ":1");
    world.relay.pass();
    assert_eq!(client.hear(), "+OK");
}

#[test]
fn after_silence_everything_comes_on_the_old_connections() {
    let world = Relayed::new();
    let mut old = world.client();
    assert_eq!(old.ask("SET a 1"), "+OK");
    world.relay.silence();
    old.tell("INCR a");
    let mut new = world.client();
    new.tell("INCR b");
    old.hears_nothing();
    new.hears_nothing();
    assert_eq!(Client::at(&world.redis).ask("EXISTS b"), ":0");
    assert_eq!(world.relay.affected(), 2, "the old request and the new connection");
    world.relay.pass();
    assert_eq!((old.hear(), new.hear()), (":2".to_owned(), ":1".to_owned()));
}

#[test]
fn the_connections_there_are_can_go_silent_while_new_ones_are_served() {
    let world = Relayed::new();
    let mut old = world.client();
    assert_eq!(old.ask("PING"), "+PONG");
    world.relay.silence_open();
    old.tell("INCR a");
    old.hears_nothing();
    assert_eq!(world.client().ask("INCR a"), ":1");
    world.relay.pass();
    assert_eq!(old.hear(), ":2");
}

#[test]
fn a_cut_ends_every_connection_and_the_next_one_is_served() {
    let world = Relayed::new();
    let mut clients = [world.client(), world.client()];
    for client in &mut clients {
        assert_eq!(client.ask("PING"), "+PONG");
    }
    world.relay.silence();
    let mut kept_waiting = world.client();
    kept_waiting.tell("SET a 1");
    kept_waiting.hears_nothing();
    world.relay.cut();
    assert_eq!(kept_waiting.hear(), "");
    assert_eq!(clients.each_mut().map(Client::hear), ["", ""]);
    world.relay.pass();
    assert_eq!(world.client().ask("EXISTS a"), ":0");
    assert_eq!(world.client().ask("PING"), "+PONG");
}

#[test]
fn a_client_that_sends_into_the_silence_is_stopped_before_memory_is_full() {
    let world = Relayed::new();
    let mut client = world.client();
    assert_eq!(client.ask("PING"), "+PONG");
    world.relay.silence();
    client.0.get_ref().set_write_timeout(Some(NOTHING_COMES)).unwrap();
    let piece = vec![b'x'; 64 * 1024];
    let sent = (0..256)
        .take_while(|_| client.0.get_mut().write_all(&piece).is_ok())
        .count();
    assert!(sent < 64, "{sent} pieces of 64 KiB were taken");
}

#[test]
fn a_relay_ends_its_connections_when_it_is_dropped() {
    let world = Relayed::new();
    let mut client = world.client();
    assert_eq!(client.ask("PING"), "+PONG");
    let socket = world.relay.at().socket().unwrap().to_owned();
    drop(world.relay);
    assert_eq!(client.hear(), "");
    assert!(!socket.exists());
}

#[test]
fn what_has_come_is_passed_on_when_the_relay_has_handed_it_over() {
    let world = Relayed::new();
    let (mut client, mut direct) = (world.client(), Client::at(&world.redis));
    assert_eq!(client.ask("SUBSCRIBE a"), "*3");
    let of_subscription = ["$9", "subscribe", "$1", "a", ":1"];
    assert_eq!(of_subscription.map(|_| client.hear()), of_subscription);
    client.0.get_ref().set_nonblocking(true).unwrap();
    let runtime = tokio::runtime::Builder::new_current_thread().build().unwrap();
    // Without the wait the message is there now and then.
    for number in 0..200 {
        assert_eq!(direct.ask("PUBLISH a b"), ":1");
        // Redis may answer before it writes to the subscriber. It answers the next command after both.
        assert_eq!(direct.ask("PING"), "+PONG");
        runtime.block_on(world.relay.hand_over());
        let message = client.0.fill_buf().map(<[u8]>::to_vec);
        assert_eq!(
            message.map(|bytes| bytes.starts_with(b"*3")).ok(),
            Some(true),
            "message {number} is not there"
        );
        client.0.consume(client.0.buffer().len());
    }
}
