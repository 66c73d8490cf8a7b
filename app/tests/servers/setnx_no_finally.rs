//! A lock that is released only where the work ends well: an error on the way leaves it for ever.

use redis::AsyncCommands;

use crate::harness::{Instance, PurchaseRequest};

#[tokio::test]
async fn setnx_no_finally_leaves_its_lock_after_an_error_and_not_after_a_refusal() {
    let instance = Instance::lab().await;
    let mut redis = instance.redis.clone();
    for (strategy, is_left) in [("setnx@redis", false), ("setnx-no-finally@redis", true)] {
        let item = instance.quiet_sale(1).await;
        let lock = format!("lock:{{{item}}}");
        let request = PurchaseRequest::of(&item).by(strategy);
        for (buyer, status) in [("b-1", 201), ("b-2", 409)] {
            let answer = instance.buy(&request.clone().buyer(buyer)).await;
            assert_eq!(answer.status, status, "{strategy}: {}", answer.text);
            let exists: bool = redis.exists(&lock).await.unwrap();
            assert!(!exists, "{strategy}: {buyer} has left its lock");
        }
        // No number any more: the read fails, and the lock's own store is well.
        let _: () = redis.set(format!("stock:{{{item}}}"), "broken").await.unwrap();
        let answer = instance.buy(&request.clone().buyer("b-3")).await;
        assert_eq!(answer.status, 500, "{strategy}: {}", answer.text);
        let exists: bool = redis.exists(&lock).await.unwrap();
        assert_eq!(exists, is_left, "{strategy}");
    }
}
