//! The keys and rows of a guard go with the sale: the lock of a holder that died, and the places of its waiters.

use redis::AsyncCommands;
use sqlx::{Row, query};
use tokio::time::timeout;

use crate::harness::{Instance, PATIENT, SHORT, fresh, name};
use crate::locks::{Tested, probe, usable, world};

/// The keys of Redis that name the item, and the rows of tables of locks that do.
async fn left_of(instance: &Instance, item: &str) -> (Vec<String>, i64) {
    let keys = instance.redis.clone().keys(format!("*{{{item}}}*")).await.unwrap();
    let count =
        query("select (select count(*) from locks where item = ?) + (select count(*) from bare_locks where item = ?)");
    let row = count.bind(item).bind(item).fetch_one(&instance.sql).await.unwrap();
    (keys, row.get(0))
}

#[tokio::test]
async fn a_guard_that_forgets_an_item_leaves_neither_a_key_nor_a_row_of_it() {
    let instance = Instance::lab().await;
    let world = world(&instance, PATIENT).await;
    for entry in usable(&world) {
        let guard = Tested::open(entry, &world).await;
        let item = name(&fresh("sku"));
        drop(guard.take(&item, &probe()).await);
        // Another purchase dies while it waits. MariaDB might carry out its statement after all else here.
        if !entry.mechanism.needs.contains(&"sql") {
            let _ = timeout(SHORT, guard.lock(&item, &probe())).await;
        }
        guard.forget(&item).await;
        assert_eq!(left_of(&instance, item.as_str()).await, (vec![], 0), "{}", guard.name);
    }
}
