//! The crate `rslock` with its defaults on one Redis: it asks up to three times, up to 200 ms apart, and then starts
//! again.

use std::sync::Arc;

use anyhow::Result;
use async_trait::async_trait;
use redis::Client;
use rslock::{LockGuard, LockManager};

use super::super::lock_kind::{Held, LEASE, Lock, LockKind};

pub struct RsLock;

struct Manager(LockManager);

struct Guard(LockGuard);

#[async_trait]
impl LockKind for RsLock {
    fn name(&self) -> &str {
        "rslock"
    }

    fn sends(&self) -> &'static [&'static str] {
        &["set", "evalsha"]
    }

    async fn connect(&self, url: &str) -> Result<Arc<dyn Lock>> {
        Ok(Arc::new(Manager(LockManager::from_clients(vec![Client::open(url)?]))))
    }
}

#[async_trait]
impl Lock for Manager {
    async fn lock(&self, name: &str) -> Result<Box<dyn Held>> {
        Ok(Box::new(Guard(self.0.acquire(name, LEASE).await?)))
    }
}

#[async_trait]
impl Held for Guard {
    async fn release(self: Box<Self>) -> Result<()> {
        self.0.release().await;
        Ok(())
    }
}
