//! The services that only some strategies need, each asked in its own protocol.
#![allow(clippy::unwrap_used, reason = "a test that fails may panic")]

use std::io::{Read, Write};
use std::net::TcpStream;

use stack::Ready;

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
        "kafka cannot be started here, only redis-nodes, sql-2, zookeeper, etcd"
    );
}
