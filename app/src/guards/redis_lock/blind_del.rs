//! A lock that is released by DEL, without a check of its owner.

use std::sync::Arc;

use async_trait::async_trait;
use redis::cmd;

use super::super::{Held, Released};
use crate::domain::Error;
use crate::probe::{Data, Probe, Role, Step};
use crate::stores::Redis;

/// Does not check the owner.
pub(in crate::guards) const DEL: Step = Step::command("del", &["DEL"]).writes(Data::LOCK).plays(Role::Release);

/// A lock that is released by [`DEL`].
pub(in crate::guards) struct HeldLock {
    pub(in crate::guards) redis: Arc<Redis>,
    pub(in crate::guards) key: String,
}

#[async_trait]
impl Held for HeldLock {
    async fn release(self: Box<Self>, probe: &Probe) -> Result<Released, Error> {
        let _: u64 = probe
            .step(&DEL, &self.key, self.redis.send(cmd("DEL").arg(&self.key)), |gone| {
                format!("{gone} deleted")
            })
            .await?;
        Ok(Released::InTime)
    }
}
