//! A lock whose value only its owner knows, released by compare-and-delete.

use std::sync::Arc;

use async_trait::async_trait;
use redis::Script;

use super::super::{Held, Released};
use crate::domain::Error;
use crate::probe::{Data, Probe, Role, Step};
use crate::stores::Redis;

/// Deletes the lock only while it still has the owner's token. A bare DEL would delete the lock of a later holder.
pub(in crate::guards) const RELEASE: &str = r"
if redis.call('get', KEYS[1]) == ARGV[1] then
    return redis.call('del', KEYS[1])
end
return 0
";

pub(in crate::guards) const SET_NX: Step = Step::command("set-nx", &["SET"]).writes(Data::LOCK).plays(Role::Lock);
pub(in crate::guards) const COMPARE_DEL: Step = Step::command("compare-del", &["EVALSHA"])
    .writes(Data::LOCK)
    .plays(Role::Release);

pub(in crate::guards) struct HeldLock {
    pub(in crate::guards) redis: Arc<Redis>,
    pub(in crate::guards) release: Arc<Script>,
    pub(in crate::guards) key: String,
    pub(in crate::guards) token: String,
}

#[async_trait]
impl Held for HeldLock {
    async fn release(self: Box<Self>, probe: &Probe) -> Result<Released, Error> {
        let mut release = self.release.key(&self.key);
        release.arg(&self.token);
        let deleted: bool = probe
            .step(&COMPARE_DEL, &self.key, self.redis.run(&release), |deleted| {
                if *deleted { "deleted" } else { "token gone" }
            })
            .await?;
        Ok(if deleted { Released::InTime } else { Released::TooLate })
    }
}
