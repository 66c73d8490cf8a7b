//! A write with a fence: the answer of each store, and that it writes only when it says so.

use std::time::Duration;

use app::domain::{Fence, Purchase};
use app::guards::Released;
use app::probe::{Observers, Probe};
use app::stores::{Fencing, Written};
use redis::AsyncCommands;

use crate::harness::{Instance, PATIENT, fresh, name};
use crate::locks::{Lock, guard};

fn purchase(item: &str, key: &str) -> (Purchase, Probe) {
    let purchase = Purchase::new(name(item), 1, name("b-1"), Some(name(key)));
    let probe = Probe::new(&purchase, Duration::ZERO, None, Observers::new(Vec::new()));
    (purchase, probe)
}

#[tokio::test]
async fn every_store_refuses_a_fence_once_one_as_high_has_written() {
    let instance = Instance::lab().await;
    for (called, store) in instance.shop.world.stores.all() {
        let item = instance.sale(9).await;
        let write = async |key: &str, left: i64, fence: u64| {
            let (purchase, probe) = purchase(&item, key);
            let read = store.read(&purchase, &probe).await.unwrap();
            let seen = read.map_or(Fence(0), |read| read.fence);
            let mine = Fence(fence);
            let fencing = Some(Fencing { mine, seen });
            store.write(&purchase, left, fencing, &probe).await.unwrap()
        };
        assert_eq!(write("k-1", 8, 33).await, Written::Written, "{called}");
        assert_eq!(write("k-2", 7, 34).await, Written::Written, "{called}");
        assert_eq!(write("k-3", 7, 33).await, Written::Fenced, "{called}");
        assert_eq!(
            write("k-3", 6, 34).await,
            Written::Fenced,
            "one that was given out twice: {called}"
        );
        assert_eq!(instance.ledger(called, &item).await.left_and_sold(), (7, 2), "{called}");
        assert_eq!(write("k-2", 6, 35).await, Written::Repeated, "{called}");
        assert_eq!(write("k-4", 6, 35).await, Written::Written, "{called}");
        assert_eq!(instance.ledger(called, &item).await.left_and_sold(), (6, 3), "{called}");
        store.close(&name(&item)).await.unwrap();
        assert_eq!(write("k-5", 5, 36).await, Written::Closed, "{called}");
        store.open(&name(&item), 9).await.unwrap();
        assert_eq!(write("k-6", 8, 1).await, Written::Written, "a new sale: {called}");
    }
}

/// Deletes the key, as the end of a lease does, or the loss of data.
async fn lose(instance: &Instance, key: String) {
    let deleted: u64 = instance.redis.clone().del(&key).await.unwrap();
    assert_eq!(deleted, 1, "{key}");
}

#[tokio::test]
async fn a_holder_whose_lease_ended_is_refused_by_every_store_once_the_next_one_has_written() {
    let instance = Instance::lab().await;
    let guard = guard(&instance, "fenced", PATIENT).await;
    for (called, store) in instance.shop.world.stores.all() {
        let item = instance.sale(2).await;
        let (one, probe_one) = purchase(&item, "k-1");
        let (two, probe_two) = purchase(&item, "k-2");
        let first = guard.take(&one.item, &probe_one).await;
        lose(&instance, format!("lock:{{{item}}}")).await;
        let second = guard.take(&two.item, &probe_two).await;
        assert!(first.fence() < second.fence(), "{called}");
        let fencing = async |held: &Lock| {
            let seen = store.read(&one, &probe_one).await.unwrap().unwrap().fence;
            held.fence().map(|mine| Fencing { mine, seen })
        };
        let new = fencing(&second).await;
        let written = store.write(&two, 1, new, &probe_two).await.unwrap();
        assert_eq!(written, Written::Written, "{called}");
        // Also if it reads once more.
        let old = fencing(&first).await;
        let late = store.write(&one, 1, old, &probe_one).await.unwrap();
        assert_eq!(late, Written::Fenced, "{called}");
        first.release(&probe_one, Released::TooLate).await;
        second.release(&probe_two, Released::InTime).await;
        assert_eq!(instance.ledger(called, &item).await.left_and_sold(), (1, 1), "{called}");
    }
}

/// Its fence is lower than any that has written, and no fence alone would see it.
#[tokio::test]
async fn a_late_holder_that_writes_after_the_next_one_has_read_makes_the_store_refuse_the_next_one() {
    let instance = Instance::lab().await;
    for (called, store) in instance.shop.world.stores.all() {
        let item = instance.sale(2).await;
        let (late, probe_late) = purchase(&item, "k-1");
        let (next, probe_next) = purchase(&item, "k-2");
        let seen = store.read(&next, &probe_next).await.unwrap().unwrap().fence;
        let write = async |purchase, probe, mine| {
            let mine = Fence(mine);
            store
                .write(purchase, 1, Some(Fencing { mine, seen }), probe)
                .await
                .unwrap()
        };
        assert_eq!(write(&late, &probe_late, 33).await, Written::Written, "{called}");
        assert_eq!(write(&next, &probe_next, 34).await, Written::Fenced, "{called}");
        assert_eq!(instance.ledger(called, &item).await.left_and_sold(), (1, 1), "{called}");
    }
}

#[tokio::test]
async fn fences_go_on_above_the_last_one_after_a_release_and_after_redis_has_lost_them() {
    let instance = Instance::lab().await;
    let guard = guard(&instance, "fenced", PATIENT).await;
    let item = fresh("sku");
    let (purchase, probe) = purchase(&item, "k-1");
    let mut last = None;
    for loses in [false, false, true, true] {
        if loses {
            lose(&instance, format!("fences:{{{item}}}")).await;
        }
        let held = guard.take(&purchase.item, &probe).await;
        assert!(held.fence() > last, "{:?} after {last:?}", held.fence());
        last = held.fence();
        held.release(&probe, Released::InTime).await;
    }
}
