//! The key of an item's lock: the same for every guard that keeps its lock in a lock service.

use crate::domain::Name;

pub(super) fn lock_key(item: &Name) -> String {
    format!("lock:{{{item}}}")
}
