//! A sale of one unit to two buyers on two instances, step by step: the smallest crowd.

use std::sync::Arc;

use anyhow::{Context, Result};
use futures_util::future::try_join_all;

use crate::deployment::RunningShop;
use crate::facts::LedgerReader;
use crate::report::side_by_side;
use crate::responses::Responses;
use crate::shop::catalogue::Strategy;
use crate::shop::response::{Response, ResponseKind};
use crate::shop::{Address, PurchaseRequest, ShopClient};
use crate::trace::Story;

/// Business time between read and write, in milliseconds: long enough for both purchases to overlap.
const WORK_MS: u64 = 100;

/// The result of the sale.
pub struct Demo {
    /// The steps side by side, and the result in a sentence.
    pub text: String,
    /// Whether one unit was sold twice.
    pub is_oversold: bool,
}

/// Sells one unit of `item`: two buyers ask two instances at the same moment.
///
/// # Errors
/// When the shop does not answer or writes no trace.
pub async fn play(shop: &RunningShop, reader: &Arc<LedgerReader>, strategy: &Strategy, item: &str) -> Result<Demo> {
    shop.client.open_sale(item, 1).await?;
    let trace = shop.trace(item).await.context("the shop writes no traces")?;
    let buyers = shop.publics().into_iter().zip(0..2);
    let responses = try_join_all(buyers.map(async |(public, number)| buy(shop, public, strategy, item, number).await));
    let responses = Responses {
        attack: responses.await?,
        ..Responses::default()
    };
    let (trace, _) = trace.collect().await.context("the traces cannot be read")?;
    let facts = reader.read(strategy.store, item, 16).await?;
    shop.client.close_sale(item).await?;
    let story = Story::of_all(&trace, &responses).context("the trace is empty")?;
    let recorded: i64 = facts.orders.iter().map(|order| order.quantity).sum();
    let sold = responses.count(ResponseKind::Sold);
    let left = facts
        .stock_left
        .map_or("no counter".to_owned(), |left| format!("{left} left"));
    Ok(Demo {
        text: format!(
            "{}\n\nSold to {sold} of 2 buyers. In the store: {recorded} sold of 1, and {left}.\n",
            side_by_side(&story)
        ),
        is_oversold: sold > 1 || recorded > 1,
    })
}

async fn buy(shop: &RunningShop, public: String, strategy: &Strategy, item: &str, number: usize) -> Result<Response> {
    let at = Address {
        host: public,
        ..shop.client.at.clone()
    };
    let request = PurchaseRequest {
        strategy: &strategy.name,
        item,
        quantity: 1,
        number,
        key: format!("{item}-{number}"),
        buyer: format!("b-{number}"),
        work_ms: WORK_MS,
        fault: None,
    };
    Ok(ShopClient::new(at)?.buy(&request).await.0)
}
