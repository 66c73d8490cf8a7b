//! A limit on the memory of Redis, set while Redis serves.

use ::redis::{InfoDict, cmd};
use anyhow::{Context, Result};

use super::Operator;
use crate::service::Service;

/// The memory up to the limit when that is set: room for new connections, and for cache entries among the keys.
const ROOM: u64 = 2 * 1024 * 1024;

/// The behaviour of Redis at its limit.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum AtLimit {
    /// It evicts the key that expires first (`volatile-ttl`). A key without an expiry stays.
    EvictFirstToExpire,
    /// It evicts the key that lay unused for longest, whether it expires or not (`allkeys-lru`).
    EvictLeastRecentlyUsed,
    /// It refuses each command that needs memory (`noeviction`).
    Refuse,
}

/// Redis at the limit of its memory. Dropping it deletes the cache entries and sets limit and policy as they were.
pub struct MemoryLimit {
    pub(super) redis: Operator,
    /// `maxmemory` and `maxmemory-policy` before.
    before: [String; 2],
    /// Cache entries written so far.
    pub(super) entries: u64,
    evicted_before: u64,
    refused_before: u64,
}

impl AtLimit {
    fn policy(self) -> &'static str {
        match self {
            Self::EvictFirstToExpire => "volatile-ttl",
            Self::EvictLeastRecentlyUsed => "allkeys-lru",
            Self::Refuse => "noeviction",
        }
    }
}

impl MemoryLimit {
    /// Sets the limit: a little above what this Redis uses, or below it where Redis is to refuse at once.
    pub(crate) fn set(redis: &Service, at_limit: AtLimit) -> Result<MemoryLimit> {
        let mut redis = Operator::at(&redis.redis_url()?)?;
        let before = [redis.setting("maxmemory")?, redis.setting("maxmemory-policy")?];
        let used: u64 = redis.read("memory", "used_memory")?;
        let limit = match at_limit {
            AtLimit::Refuse => used / 2,
            AtLimit::EvictFirstToExpire | AtLimit::EvictLeastRecentlyUsed => used + ROOM,
        };
        let (evicted_before, refused_before) = (redis.evicted()?, redis.refused()?);
        // From here on a failure restores both.
        let mut limited = MemoryLimit {
            redis,
            before,
            entries: 0,
            evicted_before,
            refused_before,
        };
        limited.configure("maxmemory-policy", at_limit.policy())?;
        limited.configure("maxmemory", &limit.to_string())?;
        Ok(limited)
    }

    /// Returns how many keys were evicted since the limit was set.
    ///
    /// # Errors
    ///
    /// When Redis does not answer.
    pub fn evicted(&mut self) -> Result<u64> {
        Ok(self.redis.evicted()?.saturating_sub(self.evicted_before))
    }

    /// Returns how many commands were refused for lack of memory since the limit was set.
    ///
    /// # Errors
    ///
    /// When Redis does not answer.
    pub fn refused(&mut self) -> Result<u64> {
        Ok(self.redis.refused()?.saturating_sub(self.refused_before))
    }

    fn configure(&mut self, setting: &str, value: &str) -> Result<()> {
        self.redis.set(setting, value)
    }
}

impl Drop for MemoryLimit {
    /// A Redis that is gone has no limit when it is back: its configuration names none.
    fn drop(&mut self) {
        let [limit, policy] = self.before.clone();
        // In the other order it would refuse commands for a moment.
        let _ = self.configure("maxmemory", &limit);
        let _ = self.configure("maxmemory-policy", &policy);
        self.delete_entries();
    }
}

impl Operator {
    /// Returns a setting of CONFIG.
    fn setting(&mut self, name: &str) -> Result<String> {
        let (_, value): (String, String) = cmd("CONFIG").arg("GET").arg(name).query(&mut self.0)?;
        Ok(value)
    }

    fn evicted(&mut self) -> Result<u64> {
        self.read("stats", "evicted_keys")
    }

    /// The counter is missing until it counts something.
    fn refused(&mut self) -> Result<u64> {
        let errors: InfoDict = cmd("INFO").arg("errorstats").query(&mut self.0)?;
        let count: Option<String> = errors.get("errorstat_OOM");
        let count = count.as_deref().unwrap_or("count=0").strip_prefix("count=");
        count
            .and_then(|count| count.parse().ok())
            .context("INFO of Redis has another form of errorstat_OOM")
    }
}
