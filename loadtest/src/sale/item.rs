//! One item for sale: its purchases and its ledger.

use std::sync::Arc;
use std::time::{Duration, Instant};

use anyhow::Result;

use super::{Load, Names};
use crate::facts::{LedgerReader, Observation};
use crate::shop::catalogue::Strategy;
use crate::shop::response::Response;
use crate::shop::{PurchaseRequest, ShopClient};

/// The most buyers of a follow-up.
pub(crate) const MOST_BUYERS: usize = 1_000;

/// The sale of one item. It is opened for one round and stays open until the end of the run.
#[derive(Clone)]
pub struct Sale {
    /// The client of the shop.
    pub client: ShopClient,
    /// The reader of the stores.
    pub reader: Arc<LedgerReader>,
    /// The strategy that sells it.
    pub strategy: Strategy,
    /// The name of the item.
    pub item: String,
    /// The names of its purchases.
    pub names: Names,
    /// The part of the round's load for this item.
    pub load: Load,
}

impl Sale {
    /// Returns the purchase with that number in the round.
    pub fn purchase(&self, number: usize) -> PurchaseRequest<'_> {
        PurchaseRequest {
            strategy: &self.strategy.name,
            item: &self.item,
            quantity: self.load.quantity,
            number,
            key: self.names.key(&self.item, number),
            buyer: self.names.buyer(number),
            work_ms: self.names.work_ms(self.load.work_ms, number),
            fault: None,
        }
    }

    /// Sends one purchase after the attack. Returns the response, and the wait that a busy response asks for.
    pub async fn buy(&self, number: usize) -> (Response, Option<Duration>) {
        self.client.buy(&self.purchase(number)).await
    }

    /// Returns two purchases with the same key: one for one unit more, and one in the name of another buyer.
    pub fn altered(&self, number: usize) -> [PurchaseRequest<'_>; 2] {
        let (mut larger, mut strangers) = (self.purchase(number), self.purchase(number));
        larger.quantity += 1;
        strangers.buyer = self.names.buyer(number + 1);
        [larger, strangers]
    }

    /// Reads the ledger once, while buyers may still be at work.
    ///
    /// # Errors
    /// When the store does not answer.
    pub async fn snapshot(&self) -> Result<Observation> {
        let begun = Instant::now();
        let facts = self
            .reader
            .read_once(self.strategy.store, &self.item, self.limit())
            .await?;
        Ok(Observation {
            begun,
            at_rest: false,
            facts,
        })
    }

    /// Reads the ledger at rest. If some purchases have no response, it reads until two readings agree.
    ///
    /// # Errors
    /// When the store does not answer, not even after some time.
    pub async fn observe_at_rest(&self, all_answered: bool) -> Result<Observation> {
        let begun = Instant::now();
        let (store, limit) = (self.strategy.store, self.limit());
        let facts = if all_answered {
            self.reader.read(store, &self.item, limit).await?
        } else {
            self.reader.settled(store, &self.item, limit).await?
        };
        Ok(Observation {
            begun,
            at_rest: true,
            facts,
        })
    }

    /// Returns the most orders to read: more than every purchase twice. A longer ledger needs no counting.
    fn limit(&self) -> usize {
        self.load.requests * 2 + 16 + MOST_BUYERS
    }
}
