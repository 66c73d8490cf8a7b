//! A service for faults, with a server and two instances that answer as `supervised` would.

use std::fs::File;
use std::io::{BufRead, BufReader, Read, Write};
use std::net::{IpAddr, Ipv4Addr, SocketAddr, TcpListener, TcpStream};
use std::os::unix::fs::FileExt;
use std::path::{Path, PathBuf};
use std::sync::mpsc::{Receiver, channel};
use std::thread;
use std::time::Duration;

use nix::sys::stat::Mode;
use nix::unistd::mkfifo;
use stack::{FaultRelay, Faults, RemoteInstances, ServiceKind, ServiceUrls, Shop, serve_faults};
use tempfile::TempDir;
use tokio::runtime::Runtime;

pub const TOKEN: &str = "0123456789abcdef";

/// The longest wait for what has to come.
pub const COMES_WITHIN: Duration = Duration::from_secs(20);

/// The first two of these addresses stand for two instances, the last one for the servers.
pub const FIRST: Ipv4Addr = Ipv4Addr::new(127, 0, 0, 2);
pub const SECOND: Ipv4Addr = Ipv4Addr::new(127, 0, 0, 3);

/// The disk of the server.
pub const DISK: &str = "redis/disk";

/// The clocks of the server and of both instances.
pub const CLOCKS: [&str; 3] = ["redis/clock", "instances/127.0.0.2/clock", "instances/127.0.0.3/clock"];

/// A file that is there while a process has ended by itself.
const ENDED: &str = "ended";

/// A service for faults before one server that sends back what it gets. It is told of commands as `supervised` would be.
pub struct World {
    pub at: SocketAddr,
    pub relay: SocketAddr,
    /// The commands that came to the server.
    pub commands: Receiver<String>,
    /// Those that came to each instance.
    pub of_instances: [Receiver<String>; 2],
    pub folder: TempDir,
    _runtime: Runtime,
}

impl World {
    pub fn start() -> World {
        let folder = tempfile::tempdir().unwrap();
        let commands = stand_in(&folder.path().join("redis"));
        std::fs::write(folder.path().join("redis/journal"), []).unwrap();
        let instances = folder.path().join("instances");
        let of_instances = [FIRST, SECOND].map(|address| stand_in(&instances.join(address.to_string())));
        for numbers in CLOCKS.into_iter().chain([DISK]) {
            std::fs::write(folder.path().join(numbers), [0; 16]).unwrap();
        }
        let (relay, target) = (free_address(), serves(|byte| byte));
        let runtime = Runtime::new().unwrap();
        let listener = runtime.block_on(tokio::net::TcpListener::bind((Ipv4Addr::LOCALHOST, 0)));
        let listener = listener.unwrap();
        let at = listener.local_addr().unwrap();
        let before = |server: &str, listen, target: SocketAddr| FaultRelay {
            server: server.to_owned(),
            listen,
            target: format!("localhost:{}", target.port()),
        };
        let relays = [
            before("redis", relay, target),
            before("redis-spare", free_address(), serves(|_| b's')),
        ];
        let pipes = PathBuf::from(folder.path());
        runtime.spawn(
            async move { serve_faults(listener, TOKEN.to_owned(), pipes, &relays, |why| panic!("{why}")).await },
        );
        World {
            at,
            relay,
            commands,
            of_instances,
            folder,
            _runtime: runtime,
        }
    }

    pub fn connect(&self) -> Faults {
        Faults::connect(&self.at.to_string(), TOKEN).unwrap()
    }

    /// Sends lines as they are, and returns the replies.
    pub fn says(&self, lines: &[&str]) -> Vec<String> {
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

    /// Returns the nanoseconds that the clocks are ahead, and how often they told the time.
    pub fn clocks(&self) -> [(i64, u64); 3] {
        CLOCKS.map(|clock| self.numbers(clock))
    }

    /// Returns the setting and the count of a preloaded library.
    pub fn numbers(&self, file: &str) -> (i64, u64) {
        let file = std::fs::read(self.folder.path().join(file)).unwrap();
        let (setting, count) = file.split_at(8);
        (
            i64::from_ne_bytes(setting.try_into().unwrap()),
            u64::from_ne_bytes(count.try_into().unwrap()),
        )
    }

    /// Lets a library count that often, as it does in its process.
    pub fn count(&self, file: &str, times: u64) {
        let path = self.folder.path().join(file);
        let file = File::options().write(true).open(path).unwrap();
        file.write_all_at(&times.to_ne_bytes(), 8).unwrap();
    }

    /// Lets the process of an instance end by itself.
    pub fn end_by_itself(&self, instance: Ipv4Addr) {
        let at = self.folder.path().join("instances").join(instance.to_string());
        std::fs::write(at.join(ENDED), []).unwrap();
    }

    pub fn command(&self) -> String {
        self.commands.recv_timeout(COMES_WITHIN).unwrap()
    }
}

/// Answers commands for a server, as the script `supervised` does. Its process has the number 7, and a later one each start.
pub fn stand_in(at: &Path) -> Receiver<String> {
    let at = at.to_owned();
    std::fs::create_dir_all(&at).unwrap();
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
            let starts = ["start", "restore"].contains(&command);
            if starts && is_killed {
                number += 1;
            }
            is_killed = ["kill", "stop"].contains(&command) || is_killed && !starts;
            if starts {
                // It is not there where the process has not ended by itself.
                let _ = std::fs::remove_file(at.join(ENDED));
            }
            if seen.send(command.to_owned()).is_err() {
                return;
            }
            let answer = match command {
                "begin" => stack::journal(command, &at.join("unsynced"), &at),
                "stop" => Ok("0".to_owned()),
                "runs" => Ok(u8::from(!at.join(ENDED).exists()).to_string()),
                "look" => Ok("640 1".to_owned()),
                "lose" if is_killed => Ok("3 300 2 1 512".to_owned()),
                "lose" => Ok("failed".to_owned()),
                _ => Ok(number.to_string()),
            };
            answers
                .write_all(format!("{id} {}\n", answer.unwrap()).as_bytes())
                .unwrap();
        }
    });
    received
}

/// Starts a server that answers each byte with another one.
pub fn serves(answer: fn(u8) -> u8) -> SocketAddr {
    let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).unwrap();
    let at = listener.local_addr().unwrap();
    thread::spawn(move || {
        for stream in listener.incoming() {
            let mut stream = stream.unwrap();
            thread::spawn(move || {
                let mut bytes = [0; 64];
                while let Ok(length @ 1..) = stream.read(&mut bytes) {
                    let answers: Vec<u8> = bytes[..length].iter().map(|byte| answer(*byte)).collect();
                    if stream.write_all(&answers).is_err() {
                        break;
                    }
                }
            });
        }
    });
    at
}

pub fn free_address() -> SocketAddr {
    let free = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).unwrap();
    (Ipv4Addr::LOCALHOST, free.local_addr().unwrap().port()).into()
}

/// Connects from that address, so that the relay takes it for that instance.
pub fn from(client: Ipv4Addr, to: SocketAddr) -> TcpStream {
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

pub fn echoes(stream: &mut TcpStream, text: &str) -> bool {
    let mut back = vec![0; text.len()];
    stream.write_all(text.as_bytes()).is_ok() && stream.read_exact(&mut back).is_ok() && back == text.as_bytes()
}

/// A shop of both instances.
pub fn shop(faults: &Faults) -> Shop {
    let listeners = [FIRST, SECOND].map(|client| SocketAddr::new(IpAddr::V4(client), 8080));
    let instances = RemoteInstances {
        publics: listeners.to_vec(),
        admins: listeners.to_vec(),
        retrying_proxy: None,
    };
    faults.shop("http://localhost", instances, &urls()).unwrap()
}

pub fn urls() -> ServiceUrls {
    ServiceUrls::from([(ServiceKind::Redis, vec!["redis://localhost".to_owned()])])
}
