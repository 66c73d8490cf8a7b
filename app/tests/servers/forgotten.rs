//! What guards keep of an item goes with its sale: the lock of a holder who died, and the places of those who waited for it.

use std::time::Duration;

use app::guards;
use app::timeouts::Timeouts;
use redis::AsyncCommands;
use sqlx::{Row, query};
use tokio::time::timeout;

use crate::guards::{guard, probe};
use crate::harness::{Instance, LONG, fresh, is_tried, name};

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
    let lasting = Timeouts {
        wait: LONG,
        lease: LONG,
    };
    for about in guards::ALL.iter().map(|entry| entry.mechanism) {
        let services = &instance.shop.world.services;
        let here = about.needs.iter().all(|need| services.urls(need).is_ok());
        if !here || !is_tried(about.name) {
            continue;
        }
        let guard = guard(&instance, about.name, lasting).await;
        let item = name(&fresh("sku"));
        drop(guard.lock(&item, &probe()).await.unwrap().unwrap());
        // Another one dies while it waits. What it has sent to MariaDB might be carried out after all else here.
        if !about.needs.contains(&"sql") {
            let _ = timeout(Duration::from_millis(50), guard.lock(&item, &probe())).await;
        }
        guard.forget(&item).await.unwrap();
        assert_eq!(left_of(&instance, item.as_str()).await, (vec![], 0), "{}", about.name);
    }
}
