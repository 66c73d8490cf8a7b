//! Rows as locks: an expired one is taken over by one waiter alone, and one without an expiry is never taken over.

use std::time::Duration;

use app::guards::Released;
use app::timeouts::Timeouts;
use futures_util::future::join_all;
use sqlx::query;

use crate::harness::{Instance, fresh, name};
use crate::locks::{LASTING, guard, probe};

#[tokio::test(flavor = "multi_thread")]
async fn an_expired_row_is_taken_over_by_one_of_the_waiters_and_its_first_owner_notices() {
    let instance = Instance::lab().await;
    let guard = guard(&instance, "lock-table", LASTING).await;
    let item = name(&fresh("sku"));
    let first = guard.take(&item, &probe()).await;
    let expire = query("update locks set expires_at = utc_timestamp(6) - interval 1 second where item = ?");
    let expired = expire.bind(item.as_str()).execute(&instance.sql).await.unwrap();
    assert_eq!(expired.rows_affected(), 1);
    let probes: Vec<_> = (0..8).map(|_| probe()).collect();
    let waiters = join_all(probes.iter().map(|probe| guard.lock(&item, probe))).await;
    let mut let_in: Vec<_> = waiters.into_iter().flatten().collect();
    assert_eq!(let_in.len(), 1);
    first.release(&probe(), Released::TooLate).await;
    guard.assert_held(&item, "the row is the new owner's").await;
    let second = let_in.pop().unwrap();
    second.release(&probe(), Released::InTime).await;
    guard.assert_free(&item, "the new owner has released it").await;
}

#[tokio::test]
async fn a_bare_row_never_lets_a_purchase_in_after_a_crashed_holder() {
    let instance = Instance::lab().await;
    let lease = Duration::from_millis(1);
    let guard = guard(&instance, "lock-table-bare", Timeouts { lease, ..LASTING }).await;
    let item = name(&fresh("sku"));
    drop(guard.take(&item, &probe()).await);
    guard
        .assert_held(&item, "the holder crashed, and the row has no expiry")
        .await;
    guard.forget(&item).await;
    guard.assert_free(&item, "the item is forgotten").await;
}
