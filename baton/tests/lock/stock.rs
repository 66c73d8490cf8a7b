//! The rule of the example, and the one that is not enough, with a holder that is late.

use baton::Baton;
use redis::AsyncCommands;
use sqlx::{MySqlPool, query, raw_sql};

use crate::example::{RULE, TABLE, read, sell_one};
use crate::world::{LOCK, World, lock, patient};

/// Not enough: a late holder may have written since the read.
const NOT_ENOUGH: &str = "update baton_stock set num = ?, fence = ? where id = ? and ? is not null and fence < ?";

/// Each holder reads. The first one, whose lease is over, writes before the second one. Returns which of them have sold,
/// and how many of two units are left.
async fn late_holder_writes_first(statement: &'static str) -> (bool, bool, i64) {
    let mut world = World::start().await;
    let [late_process, process] = [world.process(patient()).await, world.process(patient()).await];
    let sql = MySqlPool::connect(world.stores.sql_url()).await.unwrap();
    raw_sql(TABLE).execute(&sql).await.unwrap();
    let insert = query("insert into baton_stock (id, num) values (?, 2)").bind(LOCK);
    insert.execute(&sql).await.unwrap();

    let late = lock(&late_process).await;
    let seen_by_late = read(&sql, LOCK).await.unwrap();
    // As at the end of its lease.
    let _: u64 = world.redis.del(&Baton::keys(LOCK)[0]).await.unwrap();
    let holder = lock(&process).await;
    assert!(late.fence() < holder.fence());
    let seen = read(&sql, LOCK).await.unwrap();
    let late_sold = sell_one(&sql, statement, LOCK, seen_by_late, late.fence())
        .await
        .unwrap();
    let sold = sell_one(&sql, statement, LOCK, seen, holder.fence()).await.unwrap();
    (late_sold, sold, read(&sql, LOCK).await.unwrap().num)
}

#[tokio::test]
async fn by_the_rule_the_holder_that_read_before_a_late_one_wrote_is_refused() {
    assert_eq!(late_holder_writes_first(RULE).await, (true, false, 1));
}

#[tokio::test]
async fn a_store_that_only_refuses_lower_fences_sells_one_unit_to_both() {
    assert_eq!(late_holder_writes_first(NOT_ENOUGH).await, (true, true, 1));
}
