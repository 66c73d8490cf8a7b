//! MariaDB fails over to an asynchronous replica.
#![allow(clippy::unwrap_used, reason = "a test that fails may panic")]

use sqlx::mysql::{MySqlConnectOptions, MySqlConnection};
use sqlx::{AssertSqlSafe, ConnectOptions, query_scalar, raw_sql};
use stack::{ServiceKind, Stores};
use tokio::runtime::{Builder, Runtime};

mod world;

/// A client with a connection of its own for each call: a failover ends all connections.
struct Client {
    runtime: Runtime,
    options: MySqlConnectOptions,
}

impl Client {
    fn of(stores: &Stores) -> Client {
        Client {
            runtime: Builder::new_current_thread().enable_all().build().unwrap(),
            options: stores.sql_url().parse().unwrap(),
        }
    }

    fn connect(&self) -> MySqlConnection {
        self.runtime.block_on(self.options.connect()).unwrap()
    }

    fn run(&self, statement: &str) {
        let done = raw_sql(AssertSqlSafe(statement.to_owned()));
        self.runtime.block_on(done.execute(&mut self.connect())).unwrap();
    }

    fn sold(&self) -> Vec<i64> {
        let mut connection = self.connect();
        let read = query_scalar("select id from sold order by id").fetch_all(&mut connection);
        self.runtime.block_on(read).unwrap()
    }

    fn writes_a_log(&self) -> bool {
        let mut connection = self.connect();
        let read = query_scalar::<_, i64>("select @@global.log_bin").fetch_one(&mut connection);
        self.runtime.block_on(read).unwrap() == 1
    }
}

#[test]
fn the_replica_has_what_was_committed_before_the_partition_and_lacks_what_came_after() {
    let stores = world::stores();
    let client = Client::of(&stores);
    client.run("create table sold (id bigint primary key) engine=innodb");
    client.run("insert into sold values (1)");
    assert!(!client.writes_a_log(), "it would slow down every sale");
    let replica = stores.replicate_sql(ServiceKind::Sql).unwrap();
    assert!(client.writes_a_log());
    client.run("insert into sold values (2)");
    let failover = replica.partition().unwrap();
    client.run("insert into sold values (3)");
    client.run("insert into sold values (4)");
    assert_eq!(client.sold(), [1, 2, 3, 4]);
    let before = stores.mariadb().unwrap().pid();
    assert_eq!(stores.fail_over_sql(failover).unwrap(), 2);
    assert_ne!(stores.mariadb().unwrap().pid(), before);
    assert_eq!(client.sold(), [1, 2]);
    assert!(!client.writes_a_log());
    client.run("insert into sold values (5)");
}

#[test]
fn a_promoted_replica_can_be_followed_and_restarted_as_the_one_before_it() {
    let stores = world::stores();
    let client = Client::of(&stores);
    client.run("create table sold (id bigint primary key) engine=innodb");
    for round in 1..=2 {
        let failover = stores.replicate_sql(ServiceKind::Sql).unwrap().partition().unwrap();
        assert_eq!(stores.fail_over_sql(failover).unwrap(), 0);
        client.run(&format!("insert into sold values ({round})"));
    }
    let mariadb = stores.mariadb().unwrap();
    mariadb.kill().unwrap();
    mariadb.restart().unwrap();
    mariadb.wait_ready(world::LIMIT).unwrap();
    assert_eq!(client.sold(), [1, 2]);
    mariadb.restart_with_journal().unwrap();
    mariadb.wait_ready(world::LIMIT).unwrap();
    client.run("insert into sold values (3)");
    let length = mariadb.unsynced().unwrap().length().unwrap();
    assert!(length > 0, "nothing that it wrote was seen");
}
