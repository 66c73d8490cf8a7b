//! A lock that is given back before the write: the next one is in when the first one has read and still has to write.

use std::time::Duration;

use app::guards::Released;
use app::timeouts::Timeouts;

use crate::guards::{guard, is_let_in, probe};
use crate::harness::{Instance, LONG, fresh, name};

#[tokio::test]
async fn unlock_before_write_lets_the_next_one_in_when_the_first_one_has_read_and_not_before() {
    let instance = Instance::lab().await;
    let hasty = Timeouts {
        wait: Duration::from_millis(50),
        lease: LONG,
    };
    let guard = guard(&instance, "unlock-before-write", hasty).await;
    let item = name(&fresh("sku"));
    let mut first = guard.lock(&item, &probe()).await.unwrap().unwrap();
    assert!(!is_let_in(guard.as_ref(), &item).await);
    first.after_read(&probe()).await.unwrap();
    let second = guard.lock(&item, &probe()).await.unwrap().expect("it is still held");
    assert_eq!(first.release(&probe()).await.unwrap(), Released::InTime);
    // A purchase that writes nothing, such as a repeat.
    assert_eq!(second.release(&probe()).await.unwrap(), Released::InTime);
    assert!(is_let_in(guard.as_ref(), &item).await);
}
