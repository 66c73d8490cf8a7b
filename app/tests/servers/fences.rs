//! A write with a fence: what each store answers, and that it writes only what it says.

use std::time::Duration;

use app::probe::{Observers, Probe};
use app::sale::{Fence, Purchase};
use app::stores::Written;

use crate::harness::{Instance, name};

fn purchase(item: &str, key: &str) -> (Purchase, Probe) {
    let purchase = Purchase::new(name(item), 1, name("b-1"), Some(name(key)));
    let probe = Probe::new(&purchase, Duration::ZERO, None, Observers::new(Vec::new()));
    (purchase, probe)
}

#[tokio::test]
async fn every_store_refuses_a_fence_once_a_higher_one_has_written() {
    let instance = Instance::lab().await;
    for (called, store) in instance.shop.world.stores.all() {
        let item = instance.sale(9).await;
        let write = async |key: &str, left: i64, fence: u64| {
            let (purchase, probe) = purchase(&item, key);
            store.write(&purchase, left, Some(Fence(fence)), &probe).await.unwrap()
        };
        assert_eq!(write("k-1", 8, 33).await, Written::Written, "{called}");
        assert_eq!(write("k-2", 7, 34).await, Written::Written, "{called}");
        assert_eq!(write("k-3", 7, 33).await, Written::Fenced, "{called}");
        assert_eq!(instance.ledger(called, &item).await.left_and_sold(), (7, 2), "{called}");
        assert_eq!(write("k-2", 6, 34).await, Written::Repeated, "{called}");
        assert_eq!(write("k-4", 6, 34).await, Written::Written, "{called}");
        assert_eq!(instance.ledger(called, &item).await.left_and_sold(), (6, 3), "{called}");
        store.close(&name(&item)).await.unwrap();
        assert_eq!(write("k-5", 5, 35).await, Written::Closed, "{called}");
        store.open(&name(&item), 9).await.unwrap();
        assert_eq!(write("k-6", 8, 1).await, Written::Written, "a new sale: {called}");
    }
}
