//! Removes the keys that locks leave in Redis, such as counters. The Redis may belong to the user.

use anyhow::Result;
use redis::{Client, cmd};
use uuid::Uuid;

/// The prefix of the name of every measured lock.
pub const PREFIX: &str = "oversell-bench-";

/// Keys in one step of the scan.
const STEP: usize = 1_000;

/// Returns a new name for a lock.
pub fn new_name() -> String {
    format!("{PREFIX}{}", Uuid::new_v4().simple())
}

/// Removes every key that contains [`PREFIX`].
///
/// # Errors
/// When Redis does not answer.
pub async fn remove(url: &str) -> Result<()> {
    let mut connection = Client::open(url)?.get_multiplexed_async_connection().await?;
    let (pattern, mut cursor) = (format!("*{PREFIX}*"), 0_u64);
    loop {
        let mut scan = cmd("SCAN");
        scan.arg(cursor).arg("MATCH").arg(&pattern).arg("COUNT").arg(STEP);
        let (next, keys): (u64, Vec<Vec<u8>>) = scan.query_async(&mut connection).await?;
        if !keys.is_empty() {
            cmd("UNLINK").arg(keys).exec_async(&mut connection).await?;
        }
        if next == 0 {
            return Ok(());
        }
        cursor = next;
    }
}
