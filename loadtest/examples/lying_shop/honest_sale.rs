//! The honest way to serve a purchase. Every lie is a departure from here.

use anyhow::Result;

use crate::answer::Answer;
use crate::fault;
use crate::purchase::Purchase;
use crate::store::{Order, Sale};

impl Purchase {
    /// Serves the purchase honestly.
    pub async fn plain(&self) -> Result<Answer> {
        self.plain_keeping(0).await
    }

    /// Serves it honestly, but never sells the last `keep` units.
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

    /// Returns the answer to a repeat, or to a purchase of an item that is not on sale.
    pub async fn no_sale_or_known(&self) -> Result<Option<Answer>> {
        let Some(_) = self.store().stock(self.item()).await? else {
            return Ok(Some(Answer::NoSale));
        };
        let known = self.store().find(self.item(), &self.order().id).await?;
        Ok(known.map(|known| self.again(&known)))
    }

    /// The last step of the honest sale: takes the units and records the order at once.
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

    /// Returns the answer to a repeat: the same order, if it is the same purchase.
    pub fn again(&self, known: &Order) -> Answer {
        let request = self.order();
        if (known.quantity, &known.buyer) == (request.quantity, &request.buyer) {
            Answer::Sold(known.id.clone())
        } else {
            Answer::OtherPurchase
        }
    }

    /// Serves it honestly, but records `order` and takes `units`. Repeats are answered from the notes, because the
    /// ledger may be false.
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

    /// Returns the noted answer to a repeat.
    pub async fn remembered(&self) -> Result<Option<Answer>> {
        let Some(note) = self.note(&format!("key:{}", self.request.key)).await? else {
            return Ok(None);
        };
        let (id, quantity, buyer): (String, i64, String) = serde_json::from_str(&note)?;
        let same = (quantity, buyer.as_str()) == (self.request.quantity, self.request.buyer.as_str());
        Ok(Some(if same { Answer::Sold(id) } else { Answer::OtherPurchase }))
    }

    /// Notes the answer of this key.
    pub async fn remember(&self, id: &str) -> Result<()> {
        let note = serde_json::to_string(&(id, self.request.quantity, &self.request.buyer))?;
        self.set_note(&format!("key:{}", self.request.key), &note).await
    }
}
