//! PostgreSQL fails over to an asynchronous replica.
#![allow(clippy::unwrap_used, reason = "a test that fails may panic")]

use sqlx::postgres::{PgConnectOptions, PgConnection};
use sqlx::{AssertSqlSafe, ConnectOptions, query_scalar, raw_sql};
use stack::{Service, ServiceKind, Stores};
use tokio::runtime::{Builder, Runtime};

mod world;

/// A client with a connection of its own for each call: a failover ends all connections.
struct Client {
    runtime: Runtime,
    options: PgConnectOptions,
}

impl Client {
    fn of(stores: &Stores) -> Client {
        Client {
            runtime: Builder::new_current_thread().enable_all().build().unwrap(),
            options: stores.url(ServiceKind::Pg).unwrap().parse().unwrap(),
        }
    }

    fn connect(&self) -> PgConnection {
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
}

fn service(stores: &Stores) -> &Service {
    &stores.processes(ServiceKind::Pg)[0]
}

#[test]
fn the_replica_lacks_what_was_committed_after_the_partition_and_each_next_one_takes_the_place_of_the_last() {
    let mut stores = world::no_stores();
    stores.start_service("pg", true).unwrap();
    let client = Client::of(&stores);
    client.run("create table sold (id bigint primary key)");
    client.run("insert into sold values (1)");
    let replica = stores.replicate_sql(ServiceKind::Pg).unwrap();
    client.run("insert into sold values (2)");
    let failover = replica.partition().unwrap();
    client.run("insert into sold values (3)");
    client.run("begin; insert into sold values (9); rollback");
    client.run("insert into sold values (4)");
    assert_eq!(client.sold(), [1, 2, 3, 4]);
    let before = service(&stores).pid();
    assert_eq!(stores.fail_over_sql(failover).unwrap(), 2);
    assert_ne!(service(&stores).pid(), before);
    assert_eq!(client.sold(), [1, 2]);
    client.run("insert into sold values (5)");

    let failover = stores.replicate_sql(ServiceKind::Pg).unwrap().partition().unwrap();
    client.run("insert into sold values (6)");
    assert_eq!(stores.fail_over_sql(failover).unwrap(), 1);
    client.run("insert into sold values (7)");
    service(&stores).restart_with_journal().unwrap();
    service(&stores).wait_ready(world::LIMIT).unwrap();
    assert_eq!(client.sold(), [1, 2, 5, 7]);
    client.run("insert into sold values (8)");
    let length = service(&stores).unsynced().unwrap().length().unwrap();
    assert!(length > 0, "nothing that it wrote was seen");
}
