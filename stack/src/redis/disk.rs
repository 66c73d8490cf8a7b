//! An append-only file, switched on and off while Redis serves.

use std::path::Path;

use anyhow::Result;

use super::{NAME, Operator, configure, until};
use crate::service::Service;

/// Lets it sync its append-only file once in a second, until it starts again.
///
/// # Errors
///
/// When Redis does not answer.
pub(crate) fn sync_every_second(redis: &Service) -> Result<()> {
    Operator::at(&redis.redis_url()?)?.execute("CONFIG", &["SET", "appendfsync", "everysec"])
}

/// Waits until the last write to its append-only file reached the disk: it refuses commands until then.
///
/// # Errors
///
/// When Redis does not answer, or no write succeeds within some seconds.
pub(crate) fn wait_until_written(redis: &Service) -> Result<()> {
    let mut redis = Operator::at(&redis.redis_url()?)?;
    until("Redis has not written its append-only file", || {
        Ok(redis.read::<String>("persistence", "aof_last_write_status")? == "ok")
    })
}

/// Switches the append-only file on or off and waits until that is done; the data in memory stays. While it is on, every write
/// is on disk before it is answered. Returns whether it was on.
///
/// # Errors
///
/// When Redis does not answer, or does not finish in time.
pub(crate) fn keep_on_disk(service: &Service, folder: &Path, keeps: bool) -> Result<bool> {
    let append_only = if keeps { "yes" } else { "no" };
    let mut redis = Operator::at(&service.redis_url()?)?;
    let kept = redis.read::<u8>("persistence", "aof_enabled")? == 1;
    redis.execute("CONFIG", &["SET", "appendonly", append_only])?;
    until("Redis has not written its append-only file", || {
        let mut reads = |field| redis.read::<u8>("persistence", field);
        let is_at_work = reads("aof_rewrite_in_progress")? + reads("aof_rewrite_scheduled")? > 0;
        Ok(!is_at_work && (reads("aof_enabled")? == 1) == keeps)
    })?;
    if service.is_elsewhere() {
        redis.execute("CONFIG", &["REWRITE"])?;
    } else {
        // Not by CONFIG REWRITE, which writes to the file that a promoted replica was started with.
        configure(folder, NAME, append_only)?;
    }
    Ok(kept)
}
