//! A shop with all its instances, local or remote.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use anyhow::{Context, Result};
use tokio::time::{sleep, timeout};

use super::ShopParts;
use crate::http::BACK_WITHIN;
use crate::shop::ShopClient;
use crate::shop::instances::{DeathWatch, Instances, StallWatch};
use crate::shop::pending::PendingSale;
use crate::trace::SaleTrace;

/// The pause between two checks for missing instances.
const CHECK_EVERY: Duration = Duration::from_millis(50);

/// A shop with the number of instances that a round asks for.
#[derive(Clone)]
pub struct RunningShop {
    /// The client of the shop.
    pub client: ShopClient,
    /// The number of its instances.
    pub count: usize,
    instances: Instances,
    parts: Option<ShopParts>,
    /// The most instances that ever named themselves together behind the public listener.
    named: Arc<AtomicUsize>,
}

impl RunningShop {
    pub(super) fn new(client: ShopClient, count: usize, instances: Instances, parts: Option<ShopParts>) -> Self {
        Self {
            client,
            count,
            instances,
            parts,
            named: Arc::default(),
        }
    }

    /// Returns its local processes; `None` for a remote shop.
    pub fn parts(&self) -> Option<&ShopParts> {
        self.parts.as_ref()
    }

    /// Returns the public URL of each instance, past the proxy; the proxy alone for a remote shop.
    pub fn publics(&self) -> Vec<String> {
        match &self.parts {
            Some(parts) => parts.shop.publics(),
            None => vec![self.client.at.host.clone()],
        }
    }

    /// Returns how many instances answer at their admin listeners now.
    pub async fn answering(&self) -> usize {
        self.instances.answering().await
    }

    /// Begins to watch for the death of an instance.
    pub async fn watch(&self) -> DeathWatch {
        self.instances.watch().await
    }

    /// Begins to watch for an instance that stands still.
    pub async fn watch_stalls(&self) -> StallWatch {
        self.instances.watch_stalls().await
    }

    /// Starts a trace of a sale at every instance; `None` if one of them cannot trace.
    pub async fn trace(&self, item: &str) -> Option<SaleTrace> {
        let admins = self.instances.admins().await.into_iter().collect();
        SaleTrace::begin(self.client.clone(), admins, self.count, item).await
    }

    /// Returns the trace of a sale that every instance writes already.
    pub async fn begun_trace(&self, item: &str) -> SaleTrace {
        let admins = self.instances.admins().await.into_iter().collect();
        SaleTrace::begun(self.client.clone(), admins, self.count, item)
    }

    /// Returns the pending purchases of these sales, to be asked for at every instance.
    pub async fn pending(&self, items: &[&str]) -> Vec<PendingSale> {
        let admins: Vec<String> = self.instances.admins().await.into_iter().collect();
        let sales = items.iter();
        sales
            .map(|item| PendingSale::new(self.client.clone(), &admins, item))
            .collect()
    }

    /// Waits until all instances are there and buyers reach them. Restarts local instances and stores that died, and
    /// lets relays pass everything. A remote shop has its own supervisor for that.
    ///
    /// # Errors
    /// When a part does not come back in time.
    pub async fn heal(&self) -> Result<()> {
        if let Some(parts) = self.parts.clone() {
            tokio::task::spawn_blocking(move || parts.heal()).await??;
        }
        let all = async {
            while self.answering().await < self.count {
                sleep(CHECK_EVERY).await;
            }
        };
        let came = timeout(BACK_WITHIN, all).await;
        came.with_context(|| format!("not all of {} instances came back within {BACK_WITHIN:?}", self.count))?;
        let known = self.named.load(Ordering::Relaxed);
        let named = self.client.ready(self.count, known).await?;
        self.named.fetch_max(named, Ordering::Relaxed);
        Ok(())
    }
}
