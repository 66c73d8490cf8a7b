//! One item for sale: how it is bought, and where its ledger is read.

use std::sync::Arc;
use std::time::{Duration, Instant};

use anyhow::Result;

use super::Load;
use crate::facts::{LedgerReader, Observation};
use crate::shop::catalogue::Strategy;
use crate::shop::response::Response;
use crate::shop::{PurchaseRequest, ShopClient};

/// The most buyers who follow an attack.
pub(crate) const MOST_BUYERS: usize = 1_000;

/// The sale of one item: open for one round, it stays so until the end of the run.
#[derive(Clone)]
pub struct Sale {
    /// Where it is bought.
    pub client: ShopClient,
    /// Who reads the stores.
    pub reader: Arc<LedgerReader>,
    /// By which strategy it sells.
    pub strategy: Strategy,
    /// What is sold.
    pub item: String,
    /// How much of it, to how many, as far as it is about this item.
    pub load: Load,
}

impl Sale {
    /// The purchase of that number in the round.
    pub fn purchase(&self, number: usize) -> PurchaseRequest<'_> {
        PurchaseRequest {
            strategy: &self.strategy.name,
            item: &self.item,
            quantity: self.load.quantity,
            number,
            buyer: number,
            work_ms: self.load.work_ms,
            fault: None,
        }
    }

    /// Sends one purchase after the attack; also says when a buyer who was told busy shall come back.
    pub async fn buy(&self, number: usize) -> (Response, Option<Duration>) {
        self.client.buy(&self.purchase(number)).await
    }

    /// A purchase with the same key for one unit more, and one in the name of another buyer.
    pub fn altered(&self, number: usize) -> [PurchaseRequest<'_>; 2] {
        let (mut larger, mut strangers) = (self.purchase(number), self.purchase(number));
        larger.quantity += 1;
        strangers.buyer += 1;
        [larger, strangers]
    }

    /// Looks at the ledger once, while buyers may still be at work.
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

    /// Looks at the ledger when all is over; more patiently when some buyers never heard how their purchase ended.
    ///
    /// # Errors
    /// When the store does not answer, not even after some time.
    pub async fn look(&self, all_answered: bool) -> Result<Observation> {
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

    /// Every purchase once more, and then some: a ledger longer than that needs no counting.
    fn limit(&self) -> usize {
        self.load.requests * 2 + 16 + MOST_BUYERS
    }
}
