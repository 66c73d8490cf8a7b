//! The lock with a re-entry count: its GET before the SET, and the one count of all locks.

use std::sync::Arc;

use app::guards::Released;
use app::probe::Observers;
use redis::AsyncCommands;
use stack::Folder;

use crate::flaws::{an_item, counting, interrupted};
use crate::harness::{Instance, PATIENT, until};
use crate::locks::{LASTING, guard, probe, probe_under};
use crate::store_gone::relayed;

#[tokio::test]
async fn token_count_counts_the_entries_of_two_items_as_one_and_opens_a_lock_that_is_held() {
    let instance = Instance::lab().await;
    let guard = guard(&instance, "token-count", LASTING).await;
    let ((one, _), (other, _)) = (an_item(), an_item());
    let purchase = probe();
    let outer = guard.take(&one, &purchase).await;
    let inner = guard.take_when(&one, &purchase, "the same purchase holds it").await;
    guard.assert_held(&one, "a purchase has entered twice").await;
    let elsewhere = guard.take(&other, &probe()).await;
    inner.release(&purchase, Released::InTime).await;
    guard
        .assert_free(
            &one,
            "the count of two items is one, and the purchase inside does not know",
        )
        .await;
    drop((outer, elsewhere));
}

/// Redis carries out the SET, and its reply is lost together with the connection.
#[tokio::test(flavor = "multi_thread")]
async fn a_set_whose_reply_is_lost_lets_token_count_in_and_locks_set_px_out() {
    let folder = Folder::new().unwrap();
    let (instance, relay) = relayed(&folder, true, LASTING).await;
    let (relay, mut direct) = (Arc::new(relay), instance.redis.clone());
    for (mechanism, is_in) in [("token-count", true), ("set-px", false)] {
        let (item, key) = an_item();
        let guard = guard(&instance, mechanism, LASTING).await;
        let losing = relay.clone();
        let unlucky = interrupted("set-nx", move |_| {
            let relay = losing.clone();
            relay.lose_replies();
            tokio::spawn(async move {
                until("the reply is lost", async || relay.affected() > 0).await;
                relay.pass();
            });
            Box::pin(async {})
        });
        let held = guard.lock(&item, &unlucky).await;
        assert_eq!(held.is_some(), is_in, "{mechanism}");
        let exists: bool = direct.exists(&key).await.unwrap();
        assert!(exists, "{mechanism}: Redis has set the key");
    }
}

#[tokio::test]
async fn token_count_keeps_its_count_where_del_finds_nothing_and_then_does_not_try_a_lock_that_is_held() {
    let instance = Instance::lab().await;
    for (step, end, tries) in [("get-owner", Released::InTime, 10), ("del", Released::TooLate, 0)] {
        let guard = guard(&instance, "token-count", PATIENT).await;
        let ((item, _), (other, of_another)) = (an_item(), an_item());
        let redis = instance.redis.clone();
        let robbed = interrupted(step, move |key| {
            let mut redis = redis.clone();
            Box::pin(async move { redis.del(key).await.unwrap() })
        });
        let held = guard.take(&item, &robbed).await;
        held.release(&robbed, end).await;
        let _: () = instance.redis.clone().set(of_another, "another").await.unwrap();
        let sets = counting("set-nx");
        let waiting = probe_under(Observers::new(vec![sets.clone()]));
        assert!(guard.lock(&other, &waiting).await.is_none(), "the lock is held");
        assert_eq!(sets.passed(), tries, "gone before {step}");
    }
}
