//! The name of the lock of an item, which is the same for every guard that keeps its lock in a lock service.

use crate::domain::Name;

/// The key of an item's lock.
pub(super) fn lock_key(item: &Name) -> String {
    format!("lock:{{{item}}}")
}
