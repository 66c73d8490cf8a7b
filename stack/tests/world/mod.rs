//! Stores, a shop of responders, and a second process of the test binary, for all tests.
#![allow(dead_code, reason = "every test file uses a part of it")]

use std::io::{BufRead, BufReader, Read, Write};
use std::net::TcpStream;
use std::path::PathBuf;
use std::process::{Child, Command, Stdio};
use std::time::Duration;

use stack::{Parts, ShopOptions, Stores};

pub const LIMIT: Duration = Duration::from_secs(30);

pub fn stores() -> Stores {
    Stores::start(&Parts {
        redis_url: None,
        sql_url: None,
        fetch: true,
    })
    .unwrap()
}

/// Stores that are never asked, for tests of the shop alone.
pub fn no_stores() -> Stores {
    let nowhere = Some("nowhere".to_owned());
    Stores::start(&Parts {
        redis_url: nowhere.clone(),
        sql_url: nowhere,
        fetch: false,
    })
    .unwrap()
}

pub fn options(instances: usize) -> ShopOptions {
    let args = vec!["serve".to_owned()];
    ShopOptions {
        program: responder(),
        args,
        env: Vec::new(),
        instances,
        fetch: true,
        port: None,
        relays: Vec::new(),
        retrying: false,
    }
}

fn responder() -> PathBuf {
    let test = std::env::current_exe().unwrap();
    let target = test.ancestors().nth(2).unwrap();
    let path = target.join("examples/responder");
    assert!(path.exists(), "build it first: cargo build -p stack --examples");
    path
}

/// The whole answer to a request without a body.
pub fn ask(host: &str, method: &str, path: &str) -> String {
    let head = "Host: shop\r\nContent-Length: 0\r\nConnection: close";
    talk(host, &format!("{method} {path} HTTP/1.1\r\n{head}\r\n\r\n"))
}

/// The whole answer to these bytes.
pub fn talk(host: &str, bytes: &str) -> String {
    let mut stream = TcpStream::connect(host.strip_prefix("http://").unwrap()).unwrap();
    stream.set_read_timeout(Some(LIMIT)).unwrap();
    stream.write_all(bytes.as_bytes()).unwrap();
    let mut answer = String::new();
    stream.read_to_string(&mut answer).unwrap();
    answer
}

/// A process of its own, killed on drop so that a test that fails leaves none behind.
pub struct Helper {
    process: Child,
    /// The text after `made: ` in its output.
    pub made: String,
}

impl Helper {
    /// Runs one ignored test of this binary and waits until it prints `made: ` and a text on stderr.
    pub fn run(test: &str) -> Helper {
        let mut command = Command::new(std::env::current_exe().unwrap());
        command
            .args(["--exact", test, "--ignored", "--nocapture"])
            .stdout(Stdio::null())
            .stderr(Stdio::piped());
        let mut process = command.spawn().unwrap();
        let lines = BufReader::new(process.stderr.take().unwrap())
            .lines()
            .map(Result::unwrap);
        let made = lines
            .filter_map(|line| line.strip_prefix("made: ").map(str::to_owned))
            .next();
        Helper {
            process,
            made: made.expect("the helper says what it made"),
        }
    }
}

impl Drop for Helper {
    fn drop(&mut self) {
        self.process.kill().unwrap();
        self.process.wait().unwrap();
    }
}
