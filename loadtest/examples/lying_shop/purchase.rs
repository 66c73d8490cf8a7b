//! One purchase being served, and the honest way to serve it. Every lie is a departure from here.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use anyhow::Result;
use serde::Deserialize;
use uuid::Uuid;

use crate::answer::Answer;
use crate::fault;
use crate::lies::Lie;
use crate::shop::Shop;
use crate::store::{Order, Sale, Store};

/// What the buyer sent.
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
    /// Whether the buyer reads gzip.
    #[serde(skip)]
    pub gzip: bool,
    /// A crash just before the write.
    #[serde(skip)]
    pub crash: bool,
}

/// Cheap to clone, for what goes on after the answer.
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

    /// Every repeat of a key has the same id.
    pub fn id_of(&self, key: &str) -> String {
        let id = Uuid::new_v5(&Uuid::NAMESPACE_OID, format!("{}\n{key}", self.item()).as_bytes());
        match self.lie() {
            // So many digits that no reader of JSON rounds them.
            Lie::NumericIds => (id.as_u64_pair().0 >> 11).to_string(),
            Lie::LongNumericIds => {
                let digits = if self.request.to_sql { 36 } else { 128 };
                format!("{:1>digits$}", id.as_u64_pair().0)
            }
            _ => id.to_string(),
        }
    }

    /// The order as it ought to be in the ledger.
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

    /// The honest sale.
    pub async fn plain(&self) -> Result<Answer> {
        self.plain_keeping(0).await
    }

    /// The honest sale of a shop that never sells the last `keep` units.
    pub async fn plain_keeping(&self, keep: i64) -> Result<Answer> {
        if let Some(answer) = self.no_sale_or_known().await? {
            return Ok(answer);
        }
        self.work().await;
        if let Some(answer) = fault::inject(self).await? {
            return Ok(answer);
        }
        self.settle(keep).await
    }

    /// The answer to whoever has bought already, or asks for what is not for sale.
    pub async fn no_sale_or_known(&self) -> Result<Option<Answer>> {
        let Some(_) = self.store().stock(self.item()).await? else {
            return Ok(Some(Answer::NoSale));
        };
        let known = self.store().find(self.item(), &self.order().id).await?;
        Ok(known.map(|known| self.again(&known)))
    }

    /// The last step of the honest sale: takes and records at once.
    pub async fn settle(&self, keep: i64) -> Result<Answer> {
        let order = self.order();
        let sale = self.store().sell(self.item(), &order, order.quantity, keep).await?;
        Ok(match sale {
            Sale::Sold => Answer::Sold(order.id),
            Sale::Known(known) => self.again(&known),
            Sale::SoldOut => Answer::SoldOut,
            Sale::Gone => Answer::NoSale,
        })
    }

    /// The answer to a repeat: the same order, if it is the same purchase.
    pub fn again(&self, known: &Order) -> Answer {
        let request = self.order();
        if (known.quantity, &known.buyer) == (request.quantity, &request.buyer) {
            Answer::Sold(known.id.clone())
        } else {
            Answer::OtherPurchase
        }
    }

    /// As the honest sale, but the ledger gets `order` and the counter loses `units`. Repeats are answered from notes,
    /// because the ledger is not to be believed.
    pub async fn sell_as(&self, order: &Order, units: i64) -> Result<Answer> {
        if let Some(answer) = self.remembered().await? {
            return Ok(answer);
        }
        if self.store().stock(self.item()).await?.is_none() {
            return Ok(Answer::NoSale);
        }
        self.work().await;
        if let Some(answer) = fault::inject(self).await? {
            return Ok(answer);
        }
        match self.store().sell(self.item(), order, units, 0).await? {
            Sale::Sold => {
                self.remember(&order.id).await?;
                Ok(Answer::Sold(order.id.clone()))
            }
            Sale::Known(known) => Ok(Answer::Sold(known.id)),
            Sale::SoldOut => Ok(Answer::SoldOut),
            Sale::Gone => Ok(Answer::NoSale),
        }
    }

    /// What the notes say to a repeat.
    pub async fn remembered(&self) -> Result<Option<Answer>> {
        let Some(note) = self.note(&format!("key:{}", self.request.key)).await? else {
            return Ok(None);
        };
        let (id, quantity, buyer): (String, i64, String) = serde_json::from_str(&note)?;
        let same = (quantity, buyer.as_str()) == (self.request.quantity, self.request.buyer.as_str());
        Ok(Some(if same { Answer::Sold(id) } else { Answer::OtherPurchase }))
    }

    /// Notes what this key was told.
    pub async fn remember(&self, id: &str) -> Result<()> {
        let note = serde_json::to_string(&(id, self.request.quantity, &self.request.buyer))?;
        self.set_note(&format!("key:{}", self.request.key), &note).await
    }

    pub async fn note(&self, name: &str) -> Result<Option<String>> {
        self.shop.notes.get(self.item(), name).await
    }

    pub async fn set_note(&self, name: &str, value: &str) -> Result<()> {
        self.shop.notes.set(self.item(), name, value).await
    }

    /// One more, counted over all instances.
    pub async fn count(&self, name: &str) -> Result<i64> {
        self.shop.notes.add(self.item(), name, 1).await
    }

    /// How long ago this was first asked in the sale with that name, over all instances.
    pub async fn since_first(&self, name: &str) -> Result<Duration> {
        let now = SystemTime::now().duration_since(UNIX_EPOCH)?;
        let ms = now.as_millis().to_string();
        let first = self.shop.notes.set_first(self.item(), name, &ms).await?;
        Ok(now.saturating_sub(Duration::from_millis(first.parse()?)))
    }

    /// Units that the sale was opened with.
    pub async fn opened_with(&self) -> Result<i64> {
        Ok(self.note("stock").await?.map_or(Ok(0), |stock| stock.parse())?)
    }

    /// True once in each sale, for a purchase that is not to crash: this is the one with the lie.
    pub async fn is_first(&self) -> Result<bool> {
        let first = !self.request.crash && self.count("lied").await? == 1;
        self.liar.store(first, Ordering::Relaxed);
        Ok(first)
    }

    /// Whether [`Purchase::is_first`] said so.
    pub fn is_liar(&self) -> bool {
        self.liar.load(Ordering::Relaxed)
    }

    /// Whether this sale is the first one of its run that this strategy sells in.
    pub async fn is_in_first_sale(&self) -> Result<bool> {
        let run = self.item().rsplit_once('-').map_or("", |(run, _)| run);
        let strategy = if self.request.to_sql { "sql" } else { "redis" };
        let first = self.shop.notes.set_first(run, strategy, self.item()).await?;
        Ok(first == self.item())
    }

    pub async fn is_sold_out(&self) -> Result<bool> {
        Ok(self.store().stock(self.item()).await?.is_some_and(|stock| stock <= 0))
    }

    /// An order that nobody asked for.
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
