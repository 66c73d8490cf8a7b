//! One purchase: its request, its store, its order and its notes.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use anyhow::Result;
use serde::Deserialize;
use uuid::Uuid;

use crate::lies::Lie;
use crate::lying_instance::Shop;
use crate::store::{Order, Store};

/// The request of the buyer.
#[derive(Clone, Debug, Deserialize)]
pub struct PurchaseRequest {
    pub item: String,
    pub quantity: i64,
    pub buyer: String,
    #[serde(skip)]
    pub key: String,
    #[serde(skip)]
    pub work_ms: u64,
    #[serde(skip)]
    pub to_sql: bool,
    /// Whether the client accepts gzip.
    #[serde(skip)]
    pub gzip: bool,
    /// Whether the process must crash just before the write.
    #[serde(skip)]
    pub crash: bool,
    /// How long the process must stand still just before the write.
    #[serde(skip)]
    pub pause: Option<Duration>,
}

/// A purchase. A clone is cheap, for work after the answer.
#[derive(Clone)]
pub struct Purchase {
    pub shop: Arc<Shop>,
    pub request: Arc<PurchaseRequest>,
    liar: Arc<AtomicBool>,
}

impl Purchase {
    pub fn new(shop: Arc<Shop>, request: PurchaseRequest) -> Self {
        Self {
            shop,
            request: Arc::new(request),
            liar: Arc::default(),
        }
    }

    pub fn lie(&self) -> Lie {
        self.shop.lie
    }

    pub fn item(&self) -> &str {
        &self.request.item
    }

    pub fn store(&self) -> &Store {
        if self.request.to_sql {
            &self.shop.sql
        } else {
            &self.shop.redis
        }
    }

    /// Returns the order id of a key, the same for every repeat.
    pub fn id_of(&self, key: &str) -> String {
        let id = Uuid::new_v5(&Uuid::NAMESPACE_OID, format!("{}\n{key}", self.item()).as_bytes());
        match self.lie() {
            // 53 bits, so that no JSON reader rounds the number.
            Lie::NumericIds => (id.as_u64_pair().0 >> 11).to_string(),
            Lie::LongNumericIds => {
                let digits = if self.request.to_sql { 36 } else { 128 };
                format!("{:1>digits$}", id.as_u64_pair().0)
            }
            _ => id.to_string(),
        }
    }

    /// Returns the order that an honest ledger would hold.
    pub fn order(&self) -> Order {
        Order {
            id: self.id_of(&self.request.key),
            quantity: self.request.quantity,
            buyer: Some(self.request.buyer.clone()),
            key: Some(self.request.key.clone()),
        }
    }

    pub async fn work(&self) {
        tokio::time::sleep(Duration::from_millis(self.request.work_ms)).await;
    }

    pub async fn note(&self, name: &str) -> Result<Option<String>> {
        self.shop.notes.get(self.item(), name).await
    }

    pub async fn set_note(&self, name: &str, value: &str) -> Result<()> {
        self.shop.notes.set(self.item(), name, value).await
    }

    /// Adds one to a counter of all instances, and returns its new value.
    pub async fn count(&self, name: &str) -> Result<i64> {
        self.shop.notes.add(self.item(), name, 1).await
    }

    /// Returns the time since the first call with that name in the sale, over all instances.
    pub async fn since_first(&self, name: &str) -> Result<Duration> {
        let now = SystemTime::now().duration_since(UNIX_EPOCH)?;
        let ms = now.as_millis().to_string();
        let first = self.shop.notes.set_first(self.item(), name, &ms).await?;
        Ok(now.saturating_sub(Duration::from_millis(first.parse()?)))
    }

    /// Returns the units that the sale was opened with.
    pub async fn opened_with(&self) -> Result<i64> {
        Ok(self.note("stock").await?.map_or(Ok(0), |stock| stock.parse())?)
    }

    /// Returns true once in each sale, for a purchase without a crash: this one gets the lie.
    pub async fn is_first(&self) -> Result<bool> {
        let first = !self.request.crash && self.count("lied").await? == 1;
        self.liar.store(first, Ordering::Relaxed);
        Ok(first)
    }

    /// Returns whether [`Purchase::is_first`] returned true.
    pub fn is_liar(&self) -> bool {
        self.liar.load(Ordering::Relaxed)
    }

    /// Returns the item of the first sale of the trial for this strategy.
    pub async fn first_item(&self) -> Result<String> {
        let strategy = if self.request.to_sql { "sql" } else { "redis" };
        let Shop { notes, .. } = &*self.shop;
        notes.set_first(&self.shop.first_sales(), strategy, self.item()).await
    }

    /// Returns whether this is the first sale of the trial for this strategy.
    pub async fn is_in_first_sale(&self) -> Result<bool> {
        Ok(self.first_item().await? == self.item())
    }

    pub async fn is_sold_out(&self) -> Result<bool> {
        Ok(self.store().stock(self.item()).await?.is_some_and(|stock| stock <= 0))
    }

    /// Creates an order that no buyer asked for.
    pub fn ghost(&self, quantity: i64) -> Order {
        let id = Uuid::new_v4().to_string();
        Order {
            quantity,
            buyer: Some("nobody".to_owned()),
            key: Some(format!("ghost-{id}")),
            id,
        }
    }
}
