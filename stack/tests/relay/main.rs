//! A relay before a real Redis.
#![allow(clippy::unwrap_used, reason = "a test that fails may panic")]

use std::io::{BufRead, BufReader, ErrorKind, Read, Write};
use std::os::unix::net::UnixStream;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use stack::{Folder, Parts, Relay, Stores};

mod losses;
mod passing;
#[path = "../world/mod.rs"]
mod world;

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
