//! Rows as locks: an expired one is taken over by one waiter alone, and one without an expiry by nobody.

use std::time::Duration;

use app::guards::Released;
use app::timeouts::Timeouts;
use futures_util::future::join_all;
use sqlx::query;

use crate::guards::{guard, is_let_in, probe};
use crate::harness::{Instance, LONG, fresh, name};

/// A wait that a lock which is held outlasts.
const HASTY: Timeouts = Timeouts {
    wait: Duration::from_millis(50),
    lease: LONG,
};

#[tokio::test(flavor = "multi_thread")]
async fn an_expired_row_is_taken_over_by_one_of_those_who_wait_and_its_first_owner_notices() {
    let instance = Instance::lab().await;
    let guard = guard(&instance, "lock-table", HASTY).await;
    let item = name(&fresh("sku"));
    let first = guard.lock(&item, &probe()).await.unwrap().unwrap();
    let expire = query("update locks set expires_at = utc_timestamp(6) - interval 1 second where item = ?");
    let expired = expire.bind(item.as_str()).execute(&instance.sql).await.unwrap();
    assert_eq!(expired.rows_affected(), 1);
    let probes: Vec<_> = (0..8).map(|_| probe()).collect();
    let waiters = join_all(probes.iter().map(|probe| guard.lock(&item, probe))).await;
    let mut let_in: Vec<_> = waiters.into_iter().filter_map(Result::unwrap).collect();
    assert_eq!(let_in.len(), 1);
    assert_eq!(first.release(&probe()).await.unwrap(), Released::TooLate);
    assert!(!is_let_in(guard.as_ref(), &item).await, "the row is the new owner's");
    let second = let_in.pop().unwrap();
    assert_eq!(second.release(&probe()).await.unwrap(), Released::InTime);
    assert!(is_let_in(guard.as_ref(), &item).await);
}

#[tokio::test]
async fn a_bare_row_never_lets_anybody_in_after_a_crashed_holder() {
    let instance = Instance::lab().await;
    let lease = Duration::from_millis(1);
    let guard = guard(&instance, "lock-table-bare", Timeouts { lease, ..HASTY }).await;
    let item = name(&fresh("sku"));
    drop(guard.lock(&item, &probe()).await.unwrap().unwrap());
    assert!(!is_let_in(guard.as_ref(), &item).await);
    guard.forget(&item).await.unwrap();
    assert!(is_let_in(guard.as_ref(), &item).await);
}
