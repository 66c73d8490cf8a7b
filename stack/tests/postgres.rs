//! Kill, pause, restart, a relay and a jump of the clock, played on PostgreSQL.
#![allow(clippy::unwrap_used, reason = "a test that fails may panic")]

use std::fs;
use std::time::{Duration, SystemTime};

use sqlx::{Connection, PgConnection, query_scalar, raw_sql};
use stack::{Ready, Service, ServiceKind, Stores};
use tokio::time::timeout;

mod world;

fn started() -> Stores {
    let mut stores = world::no_stores();
    stores.start_service("pg", true).unwrap();
    stores
}

fn service(stores: &Stores) -> &Service {
    &stores.processes(ServiceKind::Pg)[0]
}

fn restart(stores: &Stores) {
    service(stores).restart().unwrap();
    service(stores).wait_ready(world::LIMIT).unwrap();
}

async fn connect(stores: &Stores) -> PgConnection {
    PgConnection::connect(stores.url(ServiceKind::Pg).unwrap())
        .await
        .unwrap()
}

async fn sold(connection: &mut PgConnection) -> Vec<i64> {
    query_scalar("select id from sold order by id")
        .fetch_all(connection)
        .await
        .unwrap()
}

/// Returns the process that serves the connection.
async fn backend(connection: &mut PgConnection) -> i32 {
    query_scalar("select pg_backend_pid()")
        .fetch_one(connection)
        .await
        .unwrap()
}

/// Whether the process runs; one that waits to be reaped does not.
fn lives(pid: i32) -> bool {
    let stat = fs::read_to_string(format!("/proc/{pid}/stat")).unwrap_or_default();
    stat.rsplit_once(") ")
        .is_some_and(|(_, rest)| !rest.starts_with(['Z', 'X']))
}

#[tokio::test]
async fn a_killed_postgresql_leaves_no_backend_and_comes_back_with_what_was_committed() {
    let stores = started();
    let mut buyer = connect(&stores).await;
    for statements in [
        "create table sold (id bigint primary key); insert into sold values (1)",
        "begin; insert into sold values (2)",
    ] {
        raw_sql(statements).execute(&mut buyer).await.unwrap();
    }
    let mut busy = connect(&stores).await;
    let backend = backend(&mut busy).await;
    // A backend that waits for a client notices that the server is gone, one that is busy does not.
    let computes = tokio::spawn(async move {
        raw_sql("do 'begin loop end loop; end'")
            .execute(&mut busy)
            .await
            .is_ok()
    });
    let is_active = "select count(*) from pg_stat_activity where pid = $1 and state = 'active'";
    let active = async |observer: &mut PgConnection| -> i64 {
        query_scalar(is_active).bind(backend).fetch_one(observer).await.unwrap()
    };
    let mut observer = connect(&stores).await;
    while active(&mut observer).await == 0 {
        tokio::task::yield_now().await;
    }
    service(&stores).kill().unwrap();
    assert!(!lives(backend), "it could commit after the crash");
    assert!(!computes.await.unwrap());
    service(&stores).kill().unwrap();
    restart(&stores);
    assert_eq!(sold(&mut connect(&stores).await).await, [1]);
}

#[tokio::test]
async fn a_paused_postgresql_is_silent_on_an_open_connection_until_it_is_resumed() {
    let stores = started();
    let mut buyer = connect(&stores).await;
    let backend = backend(&mut buyer).await;
    service(&stores).pause().unwrap();
    let stat = fs::read_to_string(format!("/proc/{backend}/stat")).unwrap();
    assert!(stat.contains(") T "), "{stat}");
    let asks = query_scalar::<_, i32>("select 1").fetch_one(&mut buyer);
    tokio::pin!(asks);
    timeout(Duration::from_millis(50), &mut asks)
        .await
        .expect_err("it answers although it is paused");
    service(&stores).resume().unwrap();
    assert_eq!(timeout(world::LIMIT, asks).await.unwrap().unwrap(), 1);
    service(&stores).pause().unwrap();
    restart(&stores);
    assert!(!lives(backend));
}

#[tokio::test]
async fn a_relay_before_postgresql_has_an_address_that_clients_understand() {
    let stores = started();
    let relays = stores.relays().unwrap();
    let urls: Vec<_> = relays.urls().collect();
    let [(ServiceKind::Pg, url)] = &*urls else {
        panic!("{urls:?}")
    };
    let mut through = PgConnection::connect(url).await.unwrap();
    backend(&mut through).await;
    let relay = relays.all().next().unwrap();
    Ready::Postgres(relay.at().socket().unwrap().to_owned())
        .check()
        .unwrap();
    drop(relays);
    let asks = query_scalar::<_, i32>("select 1").fetch_one(&mut through);
    asks.await.expect_err("the connection ends with the relay");
}

#[tokio::test]
async fn a_postgresql_whose_clock_jumps_tells_the_later_time() {
    let stores = started();
    let mut buyer = connect(&stores).await;
    let clock = service(&stores).clock().unwrap();
    clock.run_ahead(Duration::from_secs(7_200)).unwrap();
    let told: i64 = query_scalar("select extract(epoch from clock_timestamp())::bigint")
        .fetch_one(&mut buyer)
        .await
        .unwrap();
    let real = SystemTime::now().duration_since(SystemTime::UNIX_EPOCH).unwrap();
    assert!(told > real.as_secs() as i64 + 3_600);
    assert!(clock.told().unwrap() > 0);
    // A wait that begins now does not take two hours.
    let waits = query_scalar::<_, String>("select pg_sleep(0.01)::text").fetch_one(&mut buyer);
    timeout(world::LIMIT, waits).await.unwrap().unwrap();
}

#[test]
fn nothing_is_left_of_a_postgresql_that_is_dropped() {
    let shared = || fs::read_to_string("/proc/sysvipc/shm").unwrap_or_default();
    let stores = started();
    let pid = service(&stores).pid().to_string();
    // One process made each segment, which is a field of its line.
    let made = |text: &str| {
        text.lines()
            .any(|line| line.split_whitespace().any(|field| field == pid))
    };
    assert!(made(&shared()), "{}", shared());
    service(&stores).pause().unwrap();
    drop(stores);
    assert!(!made(&shared()), "{}", shared());
}
