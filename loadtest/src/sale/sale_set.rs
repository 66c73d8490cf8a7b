//! What is sold in a round: one item, or a market of many at once.

use std::sync::Arc;
use std::time::Duration;

use anyhow::{Context, Result};
use futures_util::stream;
use futures_util::{StreamExt, TryStreamExt};
use rand::seq::SliceRandom;

use super::Load;
use super::Sale;
use crate::facts::{LedgerReader, Observation};
use crate::responses::Responses;
use crate::shop::catalogue::Strategy;
use crate::shop::response::Response;
use crate::shop::{PurchaseRequest, ShopClient};

/// How many sales are opened, followed up or closed at the same time.
pub(crate) const AT_ONCE: usize = 8;

/// Where the answers of one kind are.
type Kind = fn(&mut Responses) -> &mut Vec<Response>;

/// Sales that are open for one round.
#[derive(Clone)]
pub struct SaleSet {
    /// Where it is bought.
    pub client: ShopClient,
    /// By which strategy it sells.
    pub strategy: Strategy,
    /// How much of each item, to how many in all.
    pub load: Load,
    /// One for each item.
    pub sales: Vec<Sale>,
    /// Which item each purchase is for; empty where they go to the items in turn.
    spread: Arc<[usize]>,
    /// The number of the first purchase.
    first: usize,
}

impl SaleSet {
    /// A sale for each of the names. Each so many purchases in a row go to as many items, in an order that is drawn anew
    /// each time: where it were always the same, few buyers would never want one item at one moment.
    pub fn new(
        client: ShopClient,
        reader: &Arc<LedgerReader>,
        strategy: &Strategy,
        names: Vec<String>,
        load: Load,
    ) -> Self {
        let items = names.len();
        let assignment = Load {
            requests: load.requests.div_ceil(items.max(1)),
            items: 1,
            ..load
        };
        let sales = names.into_iter().map(|item| Sale {
            client: client.clone(),
            reader: reader.clone(),
            strategy: strategy.clone(),
            item,
            load: assignment,
        });
        Self {
            sales: sales.collect(),
            spread: if items > 1 {
                drawn(items, assignment.requests)
            } else {
                [].into()
            },
            client,
            strategy: strategy.clone(),
            load,
            first: 0,
        }
    }

    /// The part of the market whose first purchase has the number `first`. Purchases go to the items in turn: whoever sees
    /// only a number knows for which item it was.
    pub fn from(self, first: usize) -> Self {
        Self {
            spread: [].into(),
            first,
            ..self
        }
    }

    /// The place of the item that a purchase is for, by its place in the round.
    pub fn place_of(&self, place: usize) -> usize {
        let drawn = self.spread.get(place).copied();
        drawn.unwrap_or((self.first + place) % self.sales.len().max(1))
    }

    /// The purchase at that place in the round.
    pub fn purchase(&self, place: usize) -> PurchaseRequest<'_> {
        self.sale_of(place).purchase(self.first + place)
    }

    /// The same with one unit more, and in the name of another buyer.
    pub fn altered(&self, place: usize) -> [PurchaseRequest<'_>; 2] {
        self.sale_of(place).altered(self.first + place)
    }

    /// Sends one purchase outside the attack; also says when a buyer who was told busy shall come back.
    pub async fn buy(&self, place: usize) -> (Response, Option<Duration>) {
        self.client.buy(&self.purchase(place)).await
    }

    fn sale_of(&self, place: usize) -> &Sale {
        &self.sales[self.place_of(place)]
    }

    /// Opens all sales.
    ///
    /// # Errors
    /// When the shop refuses one or does not answer.
    pub async fn open(&self) -> Result<()> {
        let sales = self.sales.iter();
        let opening: Vec<_> = sales
            .map(|sale| self.client.open_sale(&sale.item, self.load.stock))
            .collect();
        stream::iter(opening).buffer_unordered(AT_ONCE).try_collect().await
    }

    /// What was said of each item, and seen of it, in the order of the items.
    pub fn split(
        &self,
        responses: Responses,
        observations: Vec<(usize, Observation)>,
    ) -> Vec<(Responses, Vec<Observation>)> {
        let mut items: Vec<(Responses, Vec<Observation>)> = self.sales.iter().map(|_| Default::default()).collect();
        let Responses {
            attack,
            follow_up,
            repeats,
            altered,
            apart,
        } = responses;
        for (responses, _) in &mut items {
            responses.apart = apart;
        }
        let kinds: [(Vec<Response>, Kind); 4] = [
            (attack, |responses| &mut responses.attack),
            (follow_up, |responses| &mut responses.follow_up),
            (repeats, |responses| &mut responses.repeats),
            (altered, |responses| &mut responses.altered),
        ];
        for (responses, kind) in kinds {
            for response in responses {
                kind(&mut items[self.place_of(response.number)].0).push(response);
            }
        }
        for (place, look) in observations {
            items[place].1.push(look);
        }
        items
    }
}

/// For each purchase of so many rows an item, each item once in a row.
fn drawn(items: usize, rows: usize) -> Arc<[usize]> {
    let mut row: Vec<usize> = (0..items).collect();
    let mut spread = Vec::with_capacity(items * rows);
    for _ in 0..rows {
        row.shuffle(&mut rand::rng());
        spread.extend(&row);
    }
    spread.into()
}

/// Closes sales.
///
/// # Errors
/// When one cannot be closed; the message names it, and the others are left alone then.
pub(crate) async fn close(sales: Vec<Sale>) -> Result<()> {
    let closing: Vec<_> = sales.into_iter().map(close_one).collect();
    stream::iter(closing).buffer_unordered(AT_ONCE).try_collect().await
}

async fn close_one(sale: Sale) -> Result<()> {
    let closed = sale.client.close_sale(&sale.item).await;
    closed.with_context(|| format!("the sale {} could not be closed", sale.item))
}
