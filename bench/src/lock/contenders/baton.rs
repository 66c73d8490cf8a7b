//! The crate `baton` of this workspace: the holder hands the lock to the next waiter. An instance keeps it for up to a
//! batch.

use std::sync::Arc;

use anyhow::Result;
use async_trait::async_trait;
use baton::{Baton, Settings};
use redis::Client;

use super::super::lock_kind::{Held, Lock, LockKind};

pub struct BatonLock {
    name: String,
    batch: u32,
}

impl BatonLock {
    /// Hands the lock to another instance after `batch` holders in a row.
    pub fn in_batches_of(batch: u32) -> Self {
        let name = format!("baton K={batch}");
        Self { name, batch }
    }
}

struct Instance(Baton);

struct Holder(baton::Held);

#[async_trait]
impl LockKind for BatonLock {
    fn name(&self) -> &str {
        &self.name
    }

    fn sends(&self) -> &'static [&'static str] {
        &["evalsha", "subscribe", "ping"]
    }

    async fn connect(&self, url: &str) -> Result<Arc<dyn Lock>> {
        let settings = Settings {
            batch: self.batch,
            ..Settings::default()
        };
        Ok(Arc::new(Instance(Baton::connect(Client::open(url)?, settings).await?)))
    }
}

#[async_trait]
impl Lock for Instance {
    async fn lock(&self, name: &str) -> Result<Box<dyn Held>> {
        Ok(Box::new(Holder(self.0.lock(name).await?)))
    }
}

#[async_trait]
impl Held for Holder {
    fn fence(&self) -> Option<u64> {
        Some(self.0.fence())
    }

    async fn release(self: Box<Self>) -> Result<()> {
        self.0.release().await?;
        Ok(())
    }
}
