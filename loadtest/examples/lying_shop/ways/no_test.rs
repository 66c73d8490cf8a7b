//! Shops that give a witness nothing to see.

use std::time::{Duration, SystemTime, UNIX_EPOCH};

use anyhow::Result;
use axum::http::StatusCode;

use crate::answer::Answer;
use crate::fault;
use crate::http::never;
use crate::lies::Lie;
use crate::store::Sale;
use crate::visit::Visit;

/// The counter never drops below this.
const REFILLED_TO: i64 = 5;

pub async fn sell(visit: &Visit) -> Result<Answer> {
    let (store, item) = (visit.store(), visit.item());
    match visit.lie() {
        Lie::DeadBusy => Ok(Answer::Busy),
        Lie::Dead500 => Ok(Answer::fails()),
        Lie::Silent => Ok(Answer::Cut),
        Lie::Hangs => Ok(never().await),
        Lie::RejectsAll => Ok(Answer::Status(StatusCode::UNPROCESSABLE_ENTITY)),
        Lie::HoldsBackTwo => visit.plain_keeping(2).await,
        Lie::StuckAfterHalf => {
            let half = visit.opened_with().await? / 2;
            Ok(match visit.plain_keeping(half).await? {
                Answer::SoldOut => Answer::Busy,
                other => other,
            })
        }
        Lie::SellsAloneOnly if !visit.wish.crash => {
            let before = visit.shop.notes.come(item, &visit.wish.key).await?;
            tokio::time::sleep(Duration::from_millis(3)).await;
            let after = visit.shop.notes.come(item, &visit.wish.key).await?;
            let answer = match before.max(after) {
                1 => visit.plain().await,
                _ => Ok(Answer::Busy),
            };
            visit.shop.notes.go(item, &visit.wish.key).await?;
            answer
        }
        Lie::SellsOneThenBusy => one_then_busy(visit).await,
        Lie::Refills => {
            let large = visit.opened_with().await? > REFILLED_TO;
            let answer = visit.plain().await?;
            if large && store.stock(item).await?.is_some_and(|stock| stock < REFILLED_TO) {
                store.put_stock(item, REFILLED_TO).await?;
            }
            Ok(answer)
        }
        Lie::EndlessStock => {
            if let Some(answer) = visit.no_sale_or_known().await? {
                return Ok(answer);
            }
            visit.work().await;
            if let Some(answer) = fault::strike(visit).await? {
                return Ok(answer);
            }
            let order = visit.order();
            Ok(match store.sell(item, &order, 0, 0).await? {
                Sale::Sold => Answer::Sold(order.id),
                Sale::Known(known) => Answer::Sold(known.id),
                Sale::SoldOut => Answer::SoldOut,
                Sale::Gone => Answer::NoSale,
            })
        }
        // What is opened with another stock, or in another name, sells honestly.
        _ => visit.plain().await,
    }
}

async fn one_then_busy(visit: &Visit) -> Result<Answer> {
    if let Some(answer) = visit.no_sale_or_known().await? {
        return Ok(answer);
    }
    let now = SystemTime::now().duration_since(UNIX_EPOCH)?.as_millis() as i64;
    let first = visit.count("came").await? == 1;
    if first {
        visit.set_note("first", &now.to_string()).await?;
        return visit.plain().await;
    }
    let since: i64 = visit.note("first").await?.map_or(Ok(now), |at| at.parse())?;
    if now < since + 1_000 {
        Ok(Answer::Busy)
    } else {
        visit.plain().await
    }
}
