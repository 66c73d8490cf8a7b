//! A full disk: what Redis, MariaDB and PostgreSQL refuse then, and that they serve again when there is room.
#![allow(clippy::unwrap_used, reason = "a test that fails may panic")]

use redis::{RedisResult, cmd};
use sqlx::{Connection as _, MySqlConnection, PgConnection, raw_sql};
use stack::{Service, ServiceKind};

mod world;

/// The most rows until a table has to become longer, at 200 bytes each.
const MOST_ROWS: usize = 100_000;

/// Repeats `write` until it is refused, and returns the error.
async fn until_refused(mut write: impl AsyncFnMut(usize) -> sqlx::Result<()>) -> String {
    for nth in 0..MOST_ROWS {
        if let Err(error) = write(nth).await {
            return error.to_string();
        }
    }
    panic!("nothing was refused");
}

#[test]
fn a_redis_with_an_append_only_file_refuses_every_write_and_loses_nothing() {
    let stores = world::stores();
    stores.keep_redis_on_disk(true).unwrap();
    stores.sync_redis_every_second().unwrap();
    let service = stores.redis().unwrap();
    let client = redis::Client::open(stores.redis_url()).unwrap();
    let mut connection = client.get_connection().unwrap();
    let mut set = |key: &str| -> RedisResult<()> { cmd("SET").arg(key).arg("1").exec(&mut connection) };
    let disk = service.disk().unwrap();
    set("before").unwrap();
    disk.fill().unwrap();
    // This one is in memory already when its write to the file fails.
    set("meanwhile").unwrap();
    let refused = set("refused").unwrap_err().to_string();
    assert!(refused.contains("No space left on device"), "{refused}");
    assert!(disk.make_room().unwrap() > 0);
    while set("after").is_err() {}
    service.restart().unwrap();
    service.wait_ready(world::LIMIT).unwrap();
    let mut connection = client.get_connection().unwrap();
    let keys: Vec<Option<u8>> = cmd("MGET")
        .arg(&["before", "meanwhile", "refused", "after"])
        .query(&mut connection)
        .unwrap();
    assert_eq!(keys, [Some(1), Some(1), None, Some(1)]);
}

/// What the database refused, and how many rows it confirmed and has.
async fn full(service: &Service, mut insert: impl AsyncFnMut(usize) -> sqlx::Result<()>) -> (String, usize) {
    let disk = service.disk().unwrap();
    insert(0).await.unwrap();
    disk.fill().unwrap();
    let mut confirmed = 1;
    let why = until_refused(async |nth| {
        insert(nth + 1).await?;
        confirmed += 1;
        Ok(())
    })
    .await;
    assert!(disk.make_room().unwrap() > 0);
    insert(MOST_ROWS + 1).await.unwrap();
    (why, confirmed + 1)
}

#[tokio::test]
async fn mariadb_refuses_rows_that_need_another_page_and_keeps_those_that_it_confirmed() {
    let stores = world::stores();
    let mut connection = MySqlConnection::connect(stores.sql_url()).await.unwrap();
    let create = "create table sold (id int primary key, text char(200) default 'x') engine=innodb";
    raw_sql(create).execute(&mut connection).await.unwrap();
    let service = stores.mariadb().unwrap();
    let insert = async |nth: usize| {
        let insert = sqlx::query("insert into sold (id) values (?)").bind(nth as u32);
        insert.execute(&mut connection).await.map(drop)
    };
    let (why, confirmed) = full(service, insert).await;
    assert!(why.ends_with("The table 'sold' is full"), "{why}");
    service.restart().unwrap();
    service.wait_ready(world::LIMIT).unwrap();
    let mut connection = MySqlConnection::connect(stores.sql_url()).await.unwrap();
    let count: i64 = sqlx::query_scalar("select count(*) from sold")
        .fetch_one(&mut connection)
        .await
        .unwrap();
    assert_eq!(count as usize, confirmed);
}

#[tokio::test]
async fn postgres_refuses_rows_that_need_another_page_and_keeps_those_that_it_confirmed() {
    let mut stores = world::stores();
    let url = stores.start_service("pg", true).unwrap()[0].clone();
    let mut connection = PgConnection::connect(&url).await.unwrap();
    let create = "create table sold (id int primary key, text char(200) default 'x')";
    raw_sql(create).execute(&mut connection).await.unwrap();
    let service = &stores.processes(ServiceKind::Pg)[0];
    let insert = async |nth: usize| {
        let insert = sqlx::query("insert into sold (id) values ($1)").bind(nth as i32);
        insert.execute(&mut connection).await.map(drop)
    };
    let (why, confirmed) = full(service, insert).await;
    assert!(why.contains("No space left on device"), "{why}");
    service.restart().unwrap();
    service.wait_ready(world::LIMIT).unwrap();
    let mut connection = PgConnection::connect(&url).await.unwrap();
    let count: i64 = sqlx::query_scalar("select count(*) from sold")
        .fetch_one(&mut connection)
        .await
        .unwrap();
    assert_eq!(count as usize, confirmed);
}
