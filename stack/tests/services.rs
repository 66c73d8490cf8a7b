//! The services that only some strategies need, each asked in its own protocol.
#![allow(clippy::unwrap_used, reason = "a test that fails may panic")]

use std::io::{Read, Write};
use std::net::TcpStream;
use std::thread;
use std::time::Instant;

use stack::{Ready, ServiceKind};

mod world;

#[test]
fn a_second_mariadb_has_a_socket_and_a_folder_of_its_own() {
    let mut stores = world::stores();
    let urls = stores.start_service("sql-2", true).unwrap().to_vec();
    let prefix = "mysql://root@localhost/oversell?socket=";
    let sockets = [stores.sql_url(), &urls[0]].map(|url| url.strip_prefix(prefix).unwrap().to_owned());
    assert_ne!(sockets[0], sockets[1]);
    for (socket, folder) in sockets.iter().zip(["mariadb", "mariadb-2"]) {
        let socket = std::path::PathBuf::from(socket);
        let database = socket.with_file_name(folder).join("oversell");
        Ready::MariaDb { socket, database }.check().unwrap();
    }
}

#[test]
fn a_zookeeper_grants_sessions_as_soon_as_it_is_started() {
    let mut stores = world::no_stores();
    let urls = stores.start_service("zookeeper", true).unwrap();
    let mut stream = TcpStream::connect(urls[0].strip_prefix("zookeeper://").unwrap()).unwrap();
    stream.set_read_timeout(Some(world::LIMIT)).unwrap();
    // Its length, protocol 0, no transaction seen, 1000 ms, no session before, and that session's password of 16 bytes.
    let mut hello = Vec::from(44_u32.to_be_bytes());
    hello.extend([0; 12]);
    hello.extend(1_000_u32.to_be_bytes());
    hello.extend([0; 8]);
    hello.extend(16_u32.to_be_bytes());
    hello.extend([0; 16]);
    stream.write_all(&hello).unwrap();
    let mut answer = [0; 20];
    stream.read_exact(&mut answer).unwrap();
    assert_eq!(
        answer[8..12],
        1_000_u32.to_be_bytes(),
        "the time the session may be silent"
    );
    assert_ne!(answer[12..20], [0; 8], "the session");
}

#[test]
fn an_etcd_grants_leases_of_one_second_as_soon_as_it_is_started() {
    let mut stores = world::no_stores();
    let urls = stores.start_service("etcd", true).unwrap();
    let body = "{\"TTL\":1}";
    let length = body.len();
    let request = format!(
        "POST /v3/lease/grant HTTP/1.1\r\nHost: etcd\r\nContent-Length: {length}\r\nConnection: close\r\n\r\n{body}"
    );
    let answer = world::talk(&urls[0], &request);
    assert!(answer.contains("\"TTL\":\"1\""), "{answer}");
}

#[test]
fn an_unknown_service_is_refused_with_the_names_of_those_there_are() {
    let said = world::no_stores()
        .start_service("kafka", false)
        .unwrap_err()
        .to_string();
    assert_eq!(
        said,
        "kafka cannot be started here, only redis-nodes, sql-2, pg, cluster, zookeeper, etcd"
    );
}

#[test]
fn an_ensemble_serves_without_one_of_three_servers_and_not_without_two() {
    for kind in [ServiceKind::ZooKeeper, ServiceKind::Etcd] {
        let mut stores = world::no_stores();
        let urls = stores.start_service(kind.name(), true).unwrap().to_vec();
        let [first, second, third] = stores.processes(kind) else {
            panic!("{kind} is not an ensemble of three: {urls:?}")
        };
        let at = urls[2].split_once("://").unwrap().1.parse().unwrap();
        let ready = match kind {
            ServiceKind::ZooKeeper => Ready::ZooKeeper(at),
            _ => Ready::Etcd(at),
        };
        first.kill().unwrap();
        second.wait_ready(world::LIMIT).unwrap();
        third.wait_ready(world::LIMIT).unwrap();
        second.kill().unwrap();
        let begun = Instant::now();
        while ready.check().is_ok() {
            assert!(begun.elapsed() < world::LIMIT, "one of three servers serves on: {kind}");
            thread::yield_now();
        }
        [first, second].iter().for_each(|server| server.restart().unwrap());
        for server in [first, second, third] {
            server.wait_ready(world::LIMIT).unwrap();
        }
    }
}

#[test]
fn each_instance_reaches_each_server_of_an_ensemble_by_a_relay_of_its_own() {
    let mut stores = world::no_stores();
    let direct = stores.start_service("etcd", true).unwrap().to_vec();
    let mut options = world::options(2);
    options.relays = vec![ServiceKind::Etcd];
    let shop = stores.shop(&options).unwrap();
    let mut all = direct;
    for instance in 0..2 {
        let relays = shop.relays_of(instance, ServiceKind::Etcd);
        assert_eq!(relays.len(), 3);
        for relay in relays {
            let at = relay.at().port().unwrap();
            Ready::Etcd(at).check().unwrap();
            all.push(format!("http://{at}"));
        }
    }
    assert_eq!(shop.relays(ServiceKind::Etcd).count(), 6);
    all.sort();
    all.dedup();
    assert_eq!(all.len(), 9, "three servers and a relay before each, for each instance");
}
