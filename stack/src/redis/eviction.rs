//! Keys of a sale that Redis evicts at the limit of its memory, to make room for entries of a cache.

use std::time::{Duration, Instant};

use ::redis::{cmd, pipe};
use anyhow::{Context, Result};

use super::memory_limit::MemoryLimit;

/// The bytes of a cache entry.
const ENTRY: usize = 16 * 1024;
/// Far longer than a lock lasts, as the entries of a cache do.
const ENTRY_EXPIRES_MS: u64 = 600_000;
/// The most entries that are written to evict some keys; a few hundred do.
const MOST_ENTRIES: u64 = 4_000;
/// Entries written between two looks at the keys.
const BATCH: u64 = 16;
/// Keys that Redis looks through in one round trip: there may be thousands, and a lease is short.
const KEYS_AT_ONCE: u64 = 1_000;
/// A key that expires sooner is a lease, such as a lock.
const LEASE_ENDS_WITHIN: Duration = Duration::from_secs(60);

/// A key that expires soon.
#[derive(Clone, Debug)]
pub struct Lease {
    /// The key.
    pub key: String,
    /// The time at which it expires.
    pub ends: Instant,
}

impl MemoryLimit {
    /// Returns the keys of an item that expire within a minute. Such a key names the item in braces.
    ///
    /// # Errors
    ///
    /// When Redis does not answer.
    pub fn leases(&mut self, item: &str) -> Result<Vec<Lease>> {
        let mut leases = Vec::new();
        for key in self.keys(item)? {
            let left_ms: i64 = cmd("PTTL").arg(&key).query(&mut self.redis.0)?;
            // Negative for a key that is gone, or never expires.
            let left = u64::try_from(left_ms).map(Duration::from_millis);
            if let Some(left) = left.ok().filter(|left| *left < LEASE_ENDS_WITHIN) {
                let ends = Instant::now() + left;
                leases.push(Lease { key, ends });
            }
        }
        Ok(leases)
    }

    /// Returns all keys of an item.
    ///
    /// # Errors
    ///
    /// When Redis does not answer.
    pub fn keys(&mut self, item: &str) -> Result<Vec<String>> {
        let mut scan = cmd("SCAN");
        scan.cursor_arg(0).arg("MATCH").arg(format!("*{{{item}}}*"));
        scan.arg("COUNT").arg(KEYS_AT_ONCE);
        let found = scan.iter(&mut self.redis.0)?;
        Ok(found.collect::<Result<_, _>>()?)
    }

    /// Writes cache entries until none of these keys is left. Returns whether that came about.
    ///
    /// # Errors
    ///
    /// When Redis refuses an entry, or does not answer.
    pub fn evict(&mut self, keys: &[String]) -> Result<bool> {
        let value = vec![b'x'; ENTRY];
        let last = self.entries + MOST_ENTRIES;
        while self.entries < last {
            let mut write = pipe();
            for entry in self.entries..self.entries + BATCH {
                let write = write.cmd("SET").arg(entry_key(entry)).arg(&value);
                write.arg("PX").arg(ENTRY_EXPIRES_MS).ignore();
            }
            self.entries += BATCH;
            write.exec(&mut self.redis.0).context("Redis refused a cache entry")?;
            if self.evicted()? > 0 && self.are_gone(keys)? {
                return Ok(true);
            }
        }
        Ok(false)
    }

    fn are_gone(&mut self, keys: &[String]) -> Result<bool> {
        if keys.is_empty() {
            return Ok(true);
        }
        let left: u64 = cmd("EXISTS").arg(keys).query(&mut self.redis.0)?;
        Ok(left == 0)
    }

    /// Deletes the cache entries. One that was evicted is no error, and neither is a Redis that is gone.
    pub(super) fn delete_entries(&mut self) {
        let entries: Vec<_> = (0..self.entries).map(entry_key).collect();
        if !entries.is_empty() {
            let _ = cmd("DEL").arg(entries).exec(&mut self.redis.0);
        }
    }
}

fn entry_key(number: u64) -> String {
    format!("cache-entry:{number}")
}
