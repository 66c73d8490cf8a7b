//! Bytes that never come, or only later.

use std::io::Write;
use std::thread;
use std::time::Instant;

use super::{Client, Relayed, world};

#[test]
fn a_client_that_loses_the_reply_never_learns_what_the_store_has_done() {
    let world = Relayed::new();
    let mut client = world.client();
    assert_eq!(client.ask("PING"), "+PONG");
    world.relay.lose_replies();
    client.tell("SET a 1");
    world.until("EXISTS a", ":1");
    client.hears_nothing();
    assert!(world.relay.affected() > 0);
    world.relay.pass();
    assert_eq!(
        client.hear(),
        "",
        "what follows would be taken for the reply that is missing"
    );
    assert_eq!(world.client().ask("EXISTS a"), ":1");
}

#[test]
fn a_request_that_is_kept_arrives_when_it_is_told_to_and_its_client_is_gone_by_then() {
    let world = Relayed::new();
    let mut client = world.client();
    assert_eq!(client.ask("PING"), "+PONG");
    world.relay.keep_requests();
    client.tell("SET a 1");
    client.hears_nothing();
    world.relay.pass();
    assert_eq!(client.hear(), "", "its connection is closed");
    assert_eq!(world.client().ask("EXISTS a"), ":0");
    let late = world.relay.late_requests().pop().unwrap();
    assert!(world.relay.late_requests().is_empty(), "it is handed out once");
    let runtime = tokio::runtime::Builder::new_current_thread().build().unwrap();
    runtime.block_on(late.arrive());
    assert_eq!(world.client().ask("EXISTS a"), ":1");
}

#[test]
fn a_request_that_is_dropped_never_arrives() {
    let world = Relayed::new();
    let mut client = world.client();
    assert_eq!(client.ask("CLIENT SETNAME late"), "+OK");
    world.relay.keep_requests();
    client.tell("SET a 1");
    client.hears_nothing();
    world.relay.pass();
    drop(world.relay.late_requests());
    // Redis knows the connection by its name until it is closed.
    let mut direct = Client::at(&world.redis);
    let begun = Instant::now();
    while direct.clients().contains("name=late") {
        assert!(begun.elapsed() < world::LIMIT, "the connection to Redis is still open");
    }
    assert_eq!(direct.ask("EXISTS a"), ":0");
}

#[test]
fn a_message_to_a_subscriber_is_no_reply_and_arrives() {
    let world = Relayed::new();
    let (mut subscriber, mut other) = (world.client(), world.client());
    assert_eq!(subscriber.ask("SUBSCRIBE a"), "*3");
    let of_subscription = ["$9", "subscribe", "$1", "a", ":1"];
    assert_eq!(of_subscription.map(|_| subscriber.hear()), of_subscription);
    world.relay.lose_replies();
    other.tell("PUBLISH a b");
    let message = ["*3", "$7", "message", "$1", "a", "$1", "b"];
    assert_eq!(message.map(|_| subscriber.hear()), message);
    // The reply to PUBLISH may come to the relay after the message.
    while world.relay.affected() == 0 {
        thread::yield_now();
    }
    world.relay.pass();
    assert_eq!(other.hear(), "");
    assert_eq!(subscriber.ask("PING"), "*2");
}

#[test]
fn nothing_passes_any_more_where_something_was_lost() {
    let world = Relayed::new();
    // Which of the replies meets the moment at which the relay passes again is chance.
    for _ in 0..64 {
        let mut client = world.client();
        assert_eq!(client.ask("PING"), "+PONG");
        world.relay.lose_replies();
        let mut asking = client.0.get_ref().try_clone().unwrap();
        let asks = thread::spawn(move || while asking.write_all(b"PING\r\n").is_ok() {});
        while world.relay.affected() == 0 {
            thread::yield_now();
        }
        world.relay.pass();
        assert_eq!(client.hear(), "");
        asks.join().unwrap();
    }
}
