//! The owner-token lock, released too early: the stock is read under the lock and written after the release.
//!
//! ```text
//! A: SET lock a NX PX 1000 -> OK
//! A: read 1
//! A: compare-del
//!                     B: SET lock b NX PX 1000 -> OK
//!                     B: read 1
//! A: write 0, order
//!                     B: compare-del; write 0, order    -- oversold
//! ```
//!
//! A lock protects the steps that run while it is held, and this one is held for the read alone. Source: tutorial 003,
//! in its second test. Its lock is `token-watch`, and its items are the fields of one hash; here the lock is that of
//! `token`, and each item has a key. Cost: two round trips, and one for each attempt while waiting.

use async_trait::async_trait;

use super::redis_lock::owner_token::{COMPARE_DEL, SET_NX};
use super::token::Token;
use super::{Guard, GuardEntry, Held, Released, opened};
use crate::domain::{Error, Name};
use crate::mechanism::{AS_NO_LOCK, Family, Mechanism};
use crate::probe::Probe;
use crate::timeouts::PAUSE;

pub(super) const ENTRY: GuardEntry = GuardEntry {
    mechanism: Mechanism {
        name: "unlock-before-write",
        family: Family::LeaseLock,
        lesson: 4,
        summary: "SET NX PX with an owner token, released before the stock is written",
        claims: AS_NO_LOCK,
        weak_at: "write",
        needs: &["redis"],
        source: include_str!("unlock_before_write.rs"),
    },
    steps: &[SET_NX, PAUSE, COMPARE_DEL],
    reentrant: false,
    open: |world, store| Box::pin(async move { opened(UnlockBeforeWrite(Token::open(world, store)?)) }),
};

struct UnlockBeforeWrite(Token);

#[async_trait]
impl Guard for UnlockBeforeWrite {
    async fn lock(&self, item: &Name, probe: &Probe) -> Result<Option<Box<dyn Held>>, Error> {
        let held = self.0.lock(item, probe).await?;
        Ok(held.map(|held| Box::new(HeldWhileReading(Some(held))) as Box<dyn Held>))
    }

    async fn forget(&self, item: &Name) -> Result<(), Error> {
        self.0.forget(item).await
    }
}

/// `None` once the lock is released.
struct HeldWhileReading(Option<Box<dyn Held>>);

#[async_trait]
impl Held for HeldWhileReading {
    async fn after_read(&mut self, probe: &Probe) -> Result<(), Error> {
        if let Some(held) = self.0.take() {
            held.release(probe).await?;
        }
        Ok(())
    }

    /// Releases the lock if it is still held, because there was nothing to write.
    async fn release(self: Box<Self>, probe: &Probe) -> Result<Released, Error> {
        match self.0 {
            Some(held) => held.release(probe).await,
            None => Ok(Released::InTime),
        }
    }
}
