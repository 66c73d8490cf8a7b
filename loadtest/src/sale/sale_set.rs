//! The sales of one round: one item, or many at once.

use std::sync::Arc;
use std::sync::atomic::{AtomicI64, Ordering};
use std::time::{Duration, Instant};

use anyhow::{Context, Error, Result};
use futures_util::stream;
use futures_util::{StreamExt, TryStreamExt};
use rand::seq::SliceRandom;
use tokio::time::timeout_at;

use super::{Load, Names, Sale};
use crate::facts::{LedgerReader, Observation};
use crate::responses::Responses;
use crate::shop::catalogue::Strategy;
use crate::shop::response::Response;
use crate::shop::{PurchaseRequest, ShopClient};

/// The number of sales that are opened, followed up or closed at the same time.
pub(crate) const AT_ONCE: usize = 8;

/// The longest time in which sales are closed together. A shop may need long for a sale with many orders.
pub(crate) const CLOSED_WITHIN: Duration = Duration::from_secs(60);

/// Selects the responses of one kind.
type Kind = fn(&mut Responses) -> &mut Vec<Response>;

/// The sales of one round.
#[derive(Clone)]
pub struct SaleSet {
    /// The client of the shop.
    pub client: ShopClient,
    /// The strategy that sells the items.
    pub strategy: Strategy,
    /// The load of the round.
    pub load: Load,
    /// One sale for each item.
    pub sales: Vec<Sale>,
    /// The names of their purchases.
    pub names: Names,
    /// The item of each purchase; empty where purchases go to the items in turn.
    spread: Arc<[usize]>,
    /// The number of the first purchase.
    first: usize,
    /// The units that buyers were told sold.
    told: Arc<AtomicI64>,
}

impl SaleSet {
    /// Creates a sale for each item, with the names of its purchases. Every row of purchases goes to all items once, in an
    /// order that is drawn anew for each row. In a fixed order a few buyers would never want one item at the same moment.
    pub fn new(
        client: ShopClient,
        reader: &Arc<LedgerReader>,
        strategy: &Strategy,
        items: Vec<String>,
        names: Names,
        load: Load,
    ) -> Self {
        let number = items.len();
        let per_item = Load {
            requests: load.requests.div_ceil(number.max(1)),
            items: 1,
            ..load
        };
        let sales = items.into_iter().map(|item| Sale {
            client: client.clone(),
            reader: reader.clone(),
            strategy: strategy.clone(),
            item,
            names,
            load: per_item,
        });
        Self {
            sales: sales.collect(),
            names,
            spread: if number > 1 {
                draw_items(number, per_item.requests)
            } else {
                [].into()
            },
            client,
            strategy: strategy.clone(),
            load,
            first: 0,
            told: Arc::default(),
        }
    }

    /// Returns the sales for a part of the round whose first purchase has the number `first`. Its purchases go to the
    /// items in turn, so the number of a purchase tells its item.
    pub fn from(self, first: usize) -> Self {
        Self {
            spread: [].into(),
            first,
            ..self
        }
    }

    /// Returns the place of a purchase's item, by the purchase's place in the round.
    pub fn place_of(&self, place: usize) -> usize {
        let drawn = self.spread.get(place).copied();
        drawn.unwrap_or((self.first + place) % self.sales.len().max(1))
    }

    /// Returns the place of the `nth` purchase beyond those of the round, which is for this item.
    pub fn further_place(&self, nth: usize, item: usize) -> usize {
        let items = self.sales.len().max(1);
        let begin = self.load.requests.next_multiple_of(items) + nth * items;
        begin + (item + items - (self.first + begin) % items) % items
    }

    /// Returns the purchase at that place in the round.
    pub fn purchase(&self, place: usize) -> PurchaseRequest<'_> {
        self.sale_of(place).purchase(self.first + place)
    }

    /// Returns the same purchase with one unit more, and in the name of another buyer.
    pub fn altered(&self, place: usize) -> [PurchaseRequest<'_>; 2] {
        self.sale_of(place).altered(self.first + place)
    }

    /// Sends one purchase outside the attack. Returns the response, and the wait that a busy response asks for.
    pub async fn buy(&self, place: usize) -> (Response, Option<Duration>) {
        self.client.buy(&self.purchase(place)).await
    }

    fn sale_of(&self, place: usize) -> &Sale {
        &self.sales[self.place_of(place)]
    }

    /// Counts a purchase that was told sold.
    pub(crate) fn note_sold(&self) {
        self.told.fetch_add(self.load.quantity.into(), Ordering::Relaxed);
    }

    /// Returns the units that buyers were told sold during the attack so far.
    pub fn told(&self) -> i64 {
        self.told.load(Ordering::Relaxed)
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

    /// Splits responses and observations by item, in the order of the items.
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
            asked,
            apart,
        } = responses;
        for (responses, _) in &mut items {
            responses.apart = apart;
        }
        let kinds: [(Vec<Response>, Kind); 5] = [
            (attack, |responses| &mut responses.attack),
            (follow_up, |responses| &mut responses.follow_up),
            (repeats, |responses| &mut responses.repeats),
            (altered, |responses| &mut responses.altered),
            (asked, |responses| &mut responses.asked),
        ];
        for (responses, kind) in kinds {
            for response in responses {
                kind(&mut items[self.place_of(response.number)].0).push(response);
            }
        }
        for (place, observation) in observations {
            items[place].1.push(observation);
        }
        items
    }
}

/// Draws the item of each purchase, for that many rows. Each item comes once in a row.
fn draw_items(items: usize, rows: usize) -> Arc<[usize]> {
    let mut row: Vec<usize> = (0..items).collect();
    let mut spread = Vec::with_capacity(items * rows);
    for _ in 0..rows {
        row.shuffle(&mut rand::rng());
        spread.extend(&row);
    }
    spread.into()
}

/// Closes sales, as far as there is time. Returns the items of those that stay open, each with the reason. No verdict
/// depends on it.
pub(crate) async fn close(sales: Vec<Sale>) -> Vec<(String, Error)> {
    let until = Instant::now() + CLOSED_WITHIN;
    let closing: Vec<_> = sales.into_iter().map(|sale| close_one(sale, until)).collect();
    let closed = stream::iter(closing).buffer_unordered(AT_ONCE);
    closed.filter_map(std::future::ready).collect().await
}

async fn close_one(sale: Sale, until: Instant) -> Option<(String, Error)> {
    let closed = timeout_at(until.into(), sale.client.close_sale(&sale.item)).await;
    let error = closed.context("there was no time left").flatten().err()?;
    Some((sale.item, error))
}
