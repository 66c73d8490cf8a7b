//! A relay before a real Redis: bytes that pass, come late or never come.
#![allow(clippy::unwrap_used, reason = "a test that fails may panic")]

use std::io::{BufRead, BufReader, ErrorKind, Read, Write};
use std::os::unix::net::UnixStream;
use std::path::{Path, PathBuf};
use std::thread;
use std::time::{Duration, Instant};

use stack::{Direction, Folder, Parts, Relay, Stores};

mod world;

/// Longer than any test.
const FOR_EVER: Duration = Duration::from_secs(3_600);

/// How long nothing may come before a reply is taken to be held back; a Redis that is not busy answers in microseconds.
const NOTHING_COMES: Duration = Duration::from_millis(100);

/// A real Redis without MariaDB, a relay before it, and its folder.
struct Relayed {
    relay: Relay,
    redis: PathBuf,
    _folder: Folder,
    _stores: Stores,
}

impl Relayed {
    fn new() -> Self {
        let stores = Stores::start(&Parts {
            redis_url: None,
            sql_url: Some("nowhere".to_owned()),
            fetch: true,
        });
        let stores = stores.unwrap();
        let folder = Folder::new().unwrap();
        let redis: PathBuf = stores.redis_url().strip_prefix("redis+unix://").unwrap().into();
        Self {
            relay: Relay::start(folder.path(), redis.clone()).unwrap(),
            redis,
            _folder: folder,
            _stores: stores,
        }
    }

    fn client(&self) -> Client {
        Client::at(self.relay.at().socket().unwrap())
    }

    /// Asks Redis past the relay until it answers that.
    fn until(&self, command: &str, answer: &str) {
        let mut direct = Client::at(&self.redis);
        let begun = Instant::now();
        loop {
            let said = direct.ask(command);
            if said == answer {
                return;
            }
            assert!(
                begun.elapsed() < world::LIMIT,
                "{command} is answered {said}, not {answer}"
            );
        }
    }
}

struct Client(BufReader<UnixStream>);

impl Client {
    fn at(socket: &Path) -> Self {
        Self(BufReader::new(UnixStream::connect(socket).unwrap()))
    }

    fn tell(&mut self, command: &str) {
        write!(self.0.get_mut(), "{command}\r\n").unwrap();
    }

    /// The next line; empty when the connection has ended.
    fn hear(&mut self) -> String {
        self.0.get_ref().set_read_timeout(Some(world::LIMIT)).unwrap();
        let mut line = String::new();
        match self.0.read_line(&mut line) {
            Err(error) if error.kind() == ErrorKind::ConnectionReset => String::new(),
            read => {
                read.unwrap();
                line.trim().to_owned()
            }
        }
    }

    fn ask(&mut self, command: &str) -> String {
        self.tell(command);
        self.hear()
    }

    /// The list of the clients of Redis.
    fn clients(&mut self) -> String {
        let length = self.ask("CLIENT LIST");
        let length: usize = length.trim_start_matches('$').parse().unwrap();
        let mut list = vec![0; length + "\r\n".len()];
        self.0.read_exact(&mut list).unwrap();
        String::from_utf8(list).unwrap()
    }

    fn hears_nothing(&mut self) {
        self.0.get_ref().set_read_timeout(Some(NOTHING_COMES)).unwrap();
        let nothing = self.0.fill_buf().unwrap_err().kind();
        assert_eq!(nothing, ErrorKind::WouldBlock);
    }
}

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
