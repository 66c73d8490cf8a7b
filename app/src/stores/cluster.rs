//! A Redis Cluster as a store: the same keys and the same commands as in Redis, and each item on one of its nodes. Most strategies
//! sell without it, so a shop opens also while it does not answer.

use std::sync::Arc;

use super::{Redis, Stock, Store, StoreEntry};

/// The name of the store, and of its service.
pub(super) const NAME: &str = "cluster";

/// A Redis Cluster, for the list of stores. A node answers before its replica has received the write.
pub(super) const ENTRY: StoreEntry = StoreEntry {
    name: NAME,
    steps: Redis::STEPS,
    loses_by: &["cluster-failover"],
    is_optional: true,
    connect: |to| Box::pin(async { Ok(Arc::new(Redis::of_cluster(to).await?) as Arc<dyn Stock>) }),
};
