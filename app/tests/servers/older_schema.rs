//! A volume that an older version made: its tables come up to date when an instance opens, and its rows stay.

use futures_util::future::join_all;
use sqlx::{AssertSqlSafe, Executor, MySqlPool, Row, raw_sql};
use stack::Stores;

use crate::harness::{Instance, PurchaseRequest, stores_of_its_own};

/// The schema as the first version had it.
const FIRST: &str = "
create table if not exists store (
    id  varchar(64) character set utf8mb4 collate utf8mb4_bin not null primary key,
    num bigint not null
) engine = InnoDB;

create table if not exists orders (
    id              char(36) character set ascii collate ascii_bin not null primary key,
    item            varchar(64) character set utf8mb4 collate utf8mb4_bin not null,
    quantity        bigint not null,
    buyer           varchar(64) character set utf8mb4 collate utf8mb4_bin not null,
    idempotency_key varchar(64) character set utf8mb4 collate utf8mb4_bin null,
    instance        varchar(64) character set utf8mb4 collate utf8mb4_bin not null,
    created_at      timestamp(6) not null default current_timestamp(6),
    key orders_of_item (item)
) engine = InnoDB;

insert into store (id, num) values ('old', 4);
insert into orders (id, item, quantity, buyer, idempotency_key, instance)
    values ('01234567-89ab-4cde-8f01-23456789abcd', 'old', 3, 'b-1', 'k-1', 'app-1');
";

/// All tables with their columns, as `show create table` describes them.
async fn tables(sql: &MySqlPool) -> Vec<String> {
    let mut said = Vec::new();
    for row in sql.fetch_all("show tables").await.unwrap() {
        let show = format!("show create table {}", row.get::<String, _>(0));
        said.push(sql.fetch_one(AssertSqlSafe(show)).await.unwrap().get(1));
    }
    said
}

async fn with_first_schema(stores: &Stores) -> MySqlPool {
    let sql = MySqlPool::connect(stores.sql_url()).await.unwrap();
    raw_sql("drop table if exists store, orders, locks, bare_locks")
        .execute(&sql)
        .await
        .unwrap();
    raw_sql(FIRST).execute(&sql).await.unwrap();
    sql
}

#[tokio::test]
async fn tables_of_the_first_version_come_up_to_date_and_keep_their_rows() {
    let stores = stores_of_its_own(&[]);
    let sql = MySqlPool::connect(stores.sql_url()).await.unwrap();
    drop(Instance::on(stores.clone(), |_| {}).await);
    let new = tables(&sql).await;
    let sql = with_first_schema(&stores).await;
    assert_ne!(tables(&sql).await, new);

    let instance = Instance::on(stores.clone(), |_| {}).await;
    assert_eq!(tables(&sql).await, new);
    let old = instance.ledger("sql", "old").await;
    assert_eq!(old.left_and_sold(), (4, 3));
    // By the lock whose write carries a fence, and by a statement of its own.
    for strategy in ["token@sql", "conditional@sql"] {
        let request = PurchaseRequest::of("old").by(strategy);
        let answer = instance.buy(&request).await;
        assert_eq!(answer.status, 201, "{strategy}: {}", answer.text);
    }
    assert_eq!(instance.ledger("sql", "old").await.left_and_sold(), (2, 5));
}

#[tokio::test(flavor = "multi_thread")]
async fn instances_that_open_at_the_same_moment_bring_the_tables_up_to_date_once() {
    let stores = stores_of_its_own(&[]);
    for _ in 0..5 {
        with_first_schema(&stores).await;
        let instances = join_all((0..4).map(|_| Instance::on(stores.clone(), |_| {}))).await;
        for instance in instances {
            assert_eq!(instance.ledger("sql", "old").await.left_and_sold(), (4, 3));
        }
    }
}

#[tokio::test]
async fn an_instance_that_opens_on_tables_of_today_waits_for_no_purchase() {
    let stores = stores_of_its_own(&[]);
    let first = Instance::on(stores.clone(), |_| {}).await;
    let item = first.sale(1).await;
    let mut open = first.sql.begin().await.unwrap();
    let update = sqlx::query("update store set num = 0 where id = ?").bind(&item);
    update.execute(&mut *open).await.unwrap();
    // It would be refused by MariaDB in the end, and panic.
    Instance::on(stores, |_| {}).await;
}
