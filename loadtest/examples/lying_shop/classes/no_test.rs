//! Shops that leave a witness nothing, or too little, to judge by.

use std::time::{SystemTime, UNIX_EPOCH};

use anyhow::Result;
use axum::http::StatusCode;

use crate::answer::Answer;
use crate::fault;
use crate::http::never;
use crate::lies::Lie;
use crate::lying_instance::Shop;
use crate::purchase::Purchase;
use crate::store::Sale;

/// The counter never drops below this.
const REFILLED_TO: i64 = 5;

/// The number of deliveries in a row that show that a buyer is alone. Buyers that compete send a purchase at most twice.
const ALONE_AFTER: i64 = 3;

/// The note with the place of an item among those of the trial. No purchase counts by that name.
const PLACE: &str = "place among the items";

pub async fn sell(purchase: &Purchase) -> Result<Answer> {
    let (store, item) = (purchase.store(), purchase.item());
    match purchase.lie() {
        Lie::DeadBusy => Ok(Answer::Busy),
        Lie::OneIsBusy if purchase.shop.instance == "app-2" => Ok(Answer::Busy),
        Lie::Dead500 => Ok(Answer::fails()),
        Lie::Silent => Ok(Answer::Cut),
        Lie::Hangs => Ok(never().await),
        Lie::RejectsAll => Ok(Answer::Status(StatusCode::UNPROCESSABLE_ENTITY)),
        Lie::HoldsBackTwo => purchase.plain_keeping(2).await,
        Lie::StuckAfterHalf => {
            let half = purchase.opened_with().await? / 2;
            Ok(match purchase.plain_keeping(half).await? {
                Answer::SoldOut => Answer::Busy,
                other => other,
            })
        }
        Lie::SellsAloneOnly if !purchase.request.crash => sell_alone(purchase).await,
        Lie::SellsOneThenBusy => one_then_busy(purchase).await,
        Lie::RefusesTheMarket if !purchase.is_in_first_sale().await? => sell_alone(purchase).await,
        Lie::RefusesHalfTheMarket if is_every_other(purchase).await? => sell_alone(purchase).await,
        Lie::RefusesMarketAfterOne
            if !purchase.is_in_first_sale().await? && purchase.count("came to the market").await? > 1 =>
        {
            sell_alone(purchase).await
        }
        Lie::RejectsTheMarket | Lie::FailsTheMarket | Lie::EmptiesTheMarket if !purchase.is_in_first_sale().await? => {
            Ok(match (sell_alone(purchase).await?, purchase.lie()) {
                (Answer::Busy, Lie::RejectsTheMarket) => Answer::Status(StatusCode::UNPROCESSABLE_ENTITY),
                (Answer::Busy, Lie::FailsTheMarket) => Answer::fails(),
                (Answer::Busy, _) => Answer::SoldOut,
                (other, _) => other,
            })
        }
        Lie::RefillsFirstItem if !purchase.is_in_first_sale().await? => purchase.plain().await,
        Lie::Refills | Lie::RefillsFirstItem => {
            let large = purchase.opened_with().await? > REFILLED_TO;
            let answer = purchase.plain().await?;
            if large && store.stock(item).await?.is_some_and(|stock| stock < REFILLED_TO) {
                store.put_stock(item, REFILLED_TO).await?;
            }
            Ok(answer)
        }
        Lie::EndlessStock => {
            if let Some(answer) = purchase.no_sale_or_known().await? {
                return Ok(answer);
            }
            purchase.work().await;
            if let Some(answer) = fault::inject(purchase).await? {
                return Ok(answer);
            }
            let order = purchase.order();
            Ok(match store.sell(item, &order, 0, 0).await? {
                Sale::Sold => Answer::Sold(order.id),
                Sale::Known(known) => Answer::Sold(known.id),
                Sale::SoldOut => Answer::SoldOut,
                Sale::Gone => Answer::NoSale,
            })
        }
        // A lie about the opening or the name of the instance sells honestly.
        _ => purchase.plain().await,
    }
}

/// Returns whether every second item that was opened is this one.
async fn is_every_other(purchase: &Purchase) -> Result<bool> {
    let place: i64 = purchase.note(PLACE).await?.map_or(Ok(0), |place| place.parse())?;
    Ok(place % 2 == 0)
}

/// Notes which item this one is, in the order of opening.
pub async fn open(shop: &Shop, item: &str) -> Result<()> {
    let place = shop.notes.add(&shop.first_sales(), "opened", 1).await?;
    shop.notes.set(item, PLACE, &place.to_string()).await
}

/// Returns whether this is at least the third delivery of the purchase in a row. It only counts deliveries, because on a
/// slow computer buyers that compete may arrive far apart.
async fn is_alone(purchase: &Purchase) -> Result<bool> {
    let key = &purchase.request.key;
    let came = purchase.count("came").await?;
    let notes = &purchase.shop.notes;
    let first = notes
        .set_first(purchase.item(), &format!("first {key}"), &came.to_string())
        .await?;
    let own = purchase.count(&format!("came {key}")).await?;
    Ok(own >= ALONE_AFTER && came - first.parse::<i64>()? < own)
}

/// Sells to a purchase that is alone, and says busy to every other one.
async fn sell_alone(purchase: &Purchase) -> Result<Answer> {
    if let Some(answer) = purchase.no_sale_or_known().await? {
        return Ok(answer);
    }
    if purchase.is_sold_out().await? || is_alone(purchase).await? {
        purchase.plain().await
    } else {
        Ok(Answer::Busy)
    }
}

fn now_ms() -> Result<i64> {
    Ok(SystemTime::now().duration_since(UNIX_EPOCH)?.as_millis() as i64)
}

async fn one_then_busy(purchase: &Purchase) -> Result<Answer> {
    if let Some(answer) = purchase.no_sale_or_known().await? {
        return Ok(answer);
    }
    let now = now_ms()?;
    let first = purchase.count("came").await? == 1;
    if first {
        purchase.set_note("first", &now.to_string()).await?;
        return purchase.plain().await;
    }
    let since: i64 = purchase.note("first").await?.map_or(Ok(now), |at| at.parse())?;
    if now < since + 1_000 {
        Ok(Answer::Busy)
    } else {
        purchase.plain().await
    }
}
