//! The commands that services without a log received, from their counters: the updates of ZooKeeper, the calls of etcd.

use std::collections::BTreeMap;
use std::io::{Read, Write};
use std::net::TcpStream;

use app::services::Services;

/// Whether a command is one of those that are only counted.
pub fn is_counted(command: &str) -> bool {
    command.contains('/')
}

/// Counters, read from where the last reading ended.
pub struct Counters {
    /// The addresses of every server.
    zookeeper: Vec<String>,
    etcd: Vec<String>,
    last: BTreeMap<String, u64>,
}

impl Counters {
    pub fn start(services: &Services) -> Self {
        let addresses = |service: &str| {
            let urls = services.urls(service).unwrap_or_default().iter();
            urls.filter_map(|url| Some(url.split_once("://")?.1.to_owned()))
                .collect()
        };
        let mut counters = Self {
            zookeeper: addresses("zookeeper"),
            etcd: addresses("etcd"),
            last: BTreeMap::new(),
        };
        counters.since();
        counters
    }

    /// The commands since the last call, in no order. Reads of ZooKeeper are left out: heartbeats count as such.
    pub fn since(&mut self) -> Vec<String> {
        let mut now = BTreeMap::new();
        for address in &self.zookeeper {
            let said = ask(address, "mntr");
            let updates = said
                .lines()
                .find_map(|line| line.strip_prefix("zk_cnt_updatelatency\t"));
            let updates: u64 = updates.unwrap().parse().unwrap();
            *now.entry("zookeeper/update".to_owned()).or_default() += updates;
        }
        for address in &self.etcd {
            let said = ask(address, "GET /metrics HTTP/1.0\r\n\r\n");
            // Two of its services have a method of one name.
            for (name, count) in said.lines().filter_map(call) {
                *now.entry(name).or_default() += count;
            }
        }
        let last = std::mem::replace(&mut self.last, now);
        let received = self.last.iter().flat_map(|(name, count)| {
            let before = last.get(name).copied().unwrap_or(0);
            (before..*count).map(|_| name.clone())
        });
        received.collect()
    }
}

/// `grpc_server_started_total{grpc_method="Txn",...} 7`
fn call(line: &str) -> Option<(String, u64)> {
    let rest = line.strip_prefix("grpc_server_started_total{grpc_method=\"")?;
    let (method, rest) = rest.split_once('"')?;
    let (_, count) = rest.rsplit_once(' ')?;
    Some((format!("etcd/{method}"), count.parse().ok()?))
}

fn ask(address: &str, question: &str) -> String {
    let mut stream = TcpStream::connect(address).unwrap();
    stream.write_all(question.as_bytes()).unwrap();
    let mut answer = String::new();
    stream.read_to_string(&mut answer).unwrap();
    answer
}
