//! The service for faults: who may use it, what it can strike, and what is left when a load test ends.
#![allow(clippy::unwrap_used, reason = "a test that fails may panic")]

use std::fs::File;
use std::io::{BufRead, BufReader, Read, Write};
use std::net::{IpAddr, Ipv4Addr, SocketAddr, TcpListener, TcpStream};
use std::path::{Path, PathBuf};
use std::sync::mpsc::{Receiver, channel};
use std::thread;
use std::time::Duration;

use nix::sys::stat::Mode;
use nix::unistd::mkfifo;
use stack::{FaultRelay, Faults, RemoteInstances, ServiceKind, ServiceUrls, serve_faults};
use tempfile::TempDir;
use tokio::runtime::Runtime;

const TOKEN: &str = "0123456789abcdef";

/// The longest wait for what has to come.
const COMES_WITHIN: Duration = Duration::from_secs(20);

/// The first two of these addresses stand for two instances, the last one for the servers.
const FIRST: Ipv4Addr = Ipv4Addr::new(127, 0, 0, 2);
const SECOND: Ipv4Addr = Ipv4Addr::new(127, 0, 0, 3);

/// A service for faults before one server that sends back what it gets. It is told of commands as `supervised` would be.
struct World {
    at: SocketAddr,
    relay: SocketAddr,
    /// The commands that came.
    commands: Receiver<String>,
    _runtime: Runtime,
    _folder: TempDir,
}

impl World {
    fn start() -> World {
        let folder = tempfile::tempdir().unwrap();
        let commands = stand_in(folder.path(), "redis");
        let (relay, target) = (free_address(), echo());
        let runtime = Runtime::new().unwrap();
        let listener = runtime.block_on(tokio::net::TcpListener::bind((Ipv4Addr::LOCALHOST, 0)));
        let listener = listener.unwrap();
        let at = listener.local_addr().unwrap();
        let relays = [FaultRelay {
            server: "redis".to_owned(),
            listen: relay,
            target: format!("localhost:{}", target.port()),
        }];
        let pipes = PathBuf::from(folder.path());
        runtime.spawn(
            async move { serve_faults(listener, TOKEN.to_owned(), pipes, &relays, |why| panic!("{why}")).await },
        );
        World {
            at,
            relay,
            commands,
            _runtime: runtime,
            _folder: folder,
        }
    }

    fn connect(&self) -> Faults {
        Faults::connect(&self.at.to_string(), TOKEN).unwrap()
    }

    /// Sends lines as they are, and returns the replies.
    fn says(&self, lines: &[&str]) -> Vec<String> {
        let mut stream = TcpStream::connect(self.at).unwrap();
        stream.set_read_timeout(Some(COMES_WITHIN)).unwrap();
        let mut replies = BufReader::new(stream.try_clone().unwrap());
        let ask = |line: &&str| {
            // The service may have closed the connection.
            let _ = stream.write_all(format!("{line}\n").as_bytes());
            let mut reply = String::new();
            let _ = replies.read_line(&mut reply);
            reply.trim_end().to_owned()
        };
        lines.iter().map(ask).collect()
    }

    fn command(&self) -> String {
        self.commands.recv_timeout(COMES_WITHIN).unwrap()
    }
}

/// Answers commands for a server, as the script `supervised` does. Its process has the number 7, and a later one each start.
fn stand_in(folder: &Path, server: &str) -> Receiver<String> {
    let at = folder.join(server);
    std::fs::create_dir(&at).unwrap();
    let open = |name| {
        mkfifo(&at.join(name), Mode::S_IRWXU).unwrap();
        File::options().read(true).write(true).open(at.join(name)).unwrap()
    };
    let (commands, mut answers) = (open("commands"), open("answers"));
    let (seen, received) = channel();
    thread::spawn(move || {
        let (mut number, mut is_killed) = (7, false);
        // An answer to another question lies in the pipe already.
        answers.write_all(b"1 99\n").unwrap();
        for line in BufReader::new(commands).lines() {
            let line = line.unwrap();
            let (id, command) = line.split_once(' ').unwrap();
            if command == "start" && is_killed {
                number += 1;
            }
            is_killed = command == "kill" || is_killed && command != "start";
            if seen.send(command.to_owned()).is_err() {
                return;
            }
            answers.write_all(format!("{id} {number}\n").as_bytes()).unwrap();
        }
    });
    received
}

/// Starts a server that sends back what it gets.
fn echo() -> SocketAddr {
    let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).unwrap();
    let at = listener.local_addr().unwrap();
    thread::spawn(move || {
        for stream in listener.incoming() {
            let stream = stream.unwrap();
            thread::spawn(move || std::io::copy(&mut &stream, &mut &stream));
        }
    });
    at
}

fn free_address() -> SocketAddr {
    let free = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).unwrap();
    (Ipv4Addr::LOCALHOST, free.local_addr().unwrap().port()).into()
}

/// Connects from that address, so that the relay takes it for that instance.
fn from(client: Ipv4Addr, to: SocketAddr) -> TcpStream {
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build()
        .unwrap();
    let stream = runtime.block_on(async {
        let socket = tokio::net::TcpSocket::new_v4().unwrap();
        socket.bind((client, 0).into()).unwrap();
        socket.connect(to).await.unwrap().into_std().unwrap()
    });
    stream.set_nonblocking(false).unwrap();
    stream.set_read_timeout(Some(COMES_WITHIN)).unwrap();
    stream
}

fn echoes(stream: &mut TcpStream, text: &str) -> bool {
    let mut back = vec![0; text.len()];
    stream.write_all(text.as_bytes()).is_ok() && stream.read_exact(&mut back).is_ok() && back == text.as_bytes()
}

fn urls() -> ServiceUrls {
    ServiceUrls::from([(ServiceKind::Redis, vec!["redis://localhost".to_owned()])])
}

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
fn it_strikes_only_the_servers_that_it_has_and_only_in_its_three_ways() {
    let world = World::start();
    let refused = [
        ("process mariadb kill", "error no such server"),
        ("process ../redis kill", "error no such server"),
        ("process . kill", "error no such server"),
        ("process redis remove", "error no such command"),
        ("relay mariadb 127.0.0.2 cut", "error no relay before such a server"),
        ("relay redis everybody cut", "error no address of a client"),
        ("relay redis 127.0.0.2 rm", "error no change of a relay"),
        (
            "forward redis 127.0.0.2:1",
            "error only a relay before an instance can be directed",
        ),
        ("run sh", "error no such request"),
    ];
    for (request, reply) in refused {
        let said = world.says(&[TOKEN, request]).remove(1);
        assert!(said.starts_with(reply), "{request}: {said}");
        // Each of these load tests ends with this.
        assert_eq!(world.command(), "start", "{request}");
    }
    assert_eq!(
        world.says(&[TOKEN, "servers", "relays"]),
        ["ok", "ok redis", "ok redis"]
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
fn one_instance_is_cut_off_alone() {
    let world = World::start();
    let faults = world.connect();
    let listeners = [FIRST, SECOND].map(|client| SocketAddr::new(IpAddr::V4(client), 8080));
    let instances = RemoteInstances {
        publics: listeners.to_vec(),
        admins: listeners.to_vec(),
        retrying_proxy: None,
    };
    let shop = faults.shop("http://localhost", instances, &urls()).unwrap();
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
    assert_eq!([world.command(), world.command()], ["pause", "start"]);
    assert!(echoes(&mut from(FIRST, world.relay), "again"));
}
