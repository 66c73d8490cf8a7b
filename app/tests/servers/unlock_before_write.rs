//! A lock that is given back before the write: the next one is in when the first one has read and still has to write.

use app::guards::Released;

use crate::harness::{Instance, fresh, name};
use crate::locks::{LASTING, guard, probe};

#[tokio::test]
async fn unlock_before_write_lets_the_next_one_in_when_the_first_one_has_read_and_not_before() {
    let instance = Instance::lab().await;
    let guard = guard(&instance, "unlock-before-write", LASTING).await;
    let item = name(&fresh("sku"));
    let mut first = guard.take(&item, &probe()).await;
    guard.assert_held(&item, "the first purchase has not read yet").await;
    first.after_read().await;
    let second = guard.take_when(&item, &probe(), "the first purchase has read").await;
    first.release(&probe(), Released::InTime).await;
    // A purchase that writes nothing, such as a repeat.
    second.release(&probe(), Released::InTime).await;
    guard.assert_free(&item, "the second purchase has released it").await;
}
