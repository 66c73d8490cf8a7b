//! An append-only file, switched on and off while Redis serves.

use std::path::Path;

use anyhow::Result;

use super::{NAME, Operator, configure, socket, until};

/// From now on every write is on disk before it is answered, and a restart brings everything back; or none is, and a restart
/// brings nothing back. What Redis knows stays as it is. Comes back when it is so: whether it was so before.
///
/// # Errors
///
/// When Redis does not answer, or does not come to it.
pub(crate) fn keep_on_disk(folder: &Path, keeps: bool) -> Result<bool> {
    let append_only = if keeps { "yes" } else { "no" };
    let mut redis = Operator::of(&socket(folder, NAME))?;
    let kept = redis.read::<u8>("persistence", "aof_enabled")? == 1;
    redis.say("CONFIG", &["SET", "appendonly", append_only])?;
    until("Redis has not written its append-only file", || {
        let mut reads = |field| redis.read::<u8>("persistence", field);
        let is_at_work = reads("aof_rewrite_in_progress")? + reads("aof_rewrite_scheduled")? > 0;
        Ok(!is_at_work && (reads("aof_enabled")? == 1) == keeps)
    })?;
    // By hand: CONFIG REWRITE goes to the file that a promoted replica was started with.
    configure(folder, NAME, append_only)?;
    Ok(kept)
}
