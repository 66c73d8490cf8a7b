//! What locks leave behind in Redis: counters, and owners of those who were sent away. The Redis may be somebody's.

use anyhow::Result;
use redis::{Client, cmd};
use uuid::Uuid;

/// What the names of all locks begin with that are measured.
pub const PREFIX: &str = "oversell-bench-";

/// Keys that are looked at in one step.
const STEP: usize = 1_000;

/// A name that no lock has had.
pub fn new_name() -> String {
    format!("{PREFIX}{}", Uuid::new_v4().simple())
}

/// Removes every key with such a name in it.
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
