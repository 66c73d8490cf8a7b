//! Locks that let several purchases in at a time: a semaphore of two permits, and a read lock.

use app::guards::Released;

use crate::harness::{Instance, fresh, name};
use crate::locks::{LASTING, guard, probe};

#[tokio::test]
async fn a_semaphore_lets_two_purchases_in_and_a_third_one_when_one_of_them_leaves() {
    let instance = Instance::lab().await;
    let item = name(&fresh("sku"));
    let (here, there) = (
        guard(&instance, "semaphore", LASTING).await,
        guard(&instance, "semaphore", LASTING).await,
    );
    let first = here.take(&item, &probe()).await;
    let second = there.take_when(&item, &probe(), "a permit is left").await;
    here.assert_held(&item, "no permit is left").await;
    first.release(&probe(), Released::InTime).await;
    let third = here
        .take_when(&item, &probe(), "the first one gave its permit back")
        .await;
    for held in [second, third] {
        held.release(&probe(), Released::InTime).await;
    }
}

#[tokio::test]
async fn a_read_lock_lets_every_reader_in() {
    let instance = Instance::lab().await;
    let item = name(&fresh("sku"));
    let guard = guard(&instance, "read-lock", LASTING).await;
    let mut readers = Vec::new();
    for _ in 0..3 {
        readers.push(guard.take_when(&item, &probe(), "only readers hold it").await);
    }
    for reader in readers {
        reader.release(&probe(), Released::InTime).await;
    }
}
