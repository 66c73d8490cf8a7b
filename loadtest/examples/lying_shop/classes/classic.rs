//! Errors that are visible at once, and that every witness must see.

use anyhow::Result;

use crate::answer::Answer;
use crate::fault;
use crate::lies::Lie;
use crate::purchase::Purchase;

pub async fn sell(purchase: &Purchase) -> Result<Answer> {
    let (store, item, order) = (purchase.store(), purchase.item(), purchase.order());
    if let Some(answer) = purchase.remembered().await? {
        return Ok(answer);
    }
    if store.stock(item).await?.is_none() {
        return Ok(Answer::NoSale);
    }
    match purchase.lie() {
        Lie::OversellsAtZero | Lie::OversellsBelowZero | Lie::OversellsAndNeverCloses => {
            let answer = purchase.plain().await?;
            if !matches!(answer, Answer::SoldOut) || purchase.count("beyond").await? > 3 {
                return Ok(answer);
            }
            if purchase.lie() == Lie::OversellsBelowZero {
                store.change(item, -order.quantity).await?;
            }
            store.record(item, &order).await?;
            Ok(Answer::Sold(order.id))
        }
        Lie::Unlocked => unlocked(purchase).await,
        _ if !purchase.is_first().await? => purchase.plain().await,
        Lie::LosesAnOrder => {
            store.take(item, order.quantity, 0).await?;
            purchase.remember(&order.id).await?;
            Ok(Answer::Sold(order.id))
        }
        Lie::RecordsAGhost => {
            let ghost = purchase.ghost(order.quantity);
            store.sell(item, &ghost, ghost.quantity, 0).await?;
            purchase.plain().await
        }
        Lie::TellsWithoutWriting => {
            purchase.remember(&order.id).await?;
            Ok(Answer::Sold(order.id))
        }
        Lie::RecordsWithoutTaking => {
            store.record(item, &order).await?;
            Ok(Answer::Sold(order.id))
        }
        _ => purchase.plain().await,
    }
}

async fn unlocked(purchase: &Purchase) -> Result<Answer> {
    if let Some(answer) = purchase.no_sale_or_known().await? {
        return Ok(answer);
    }
    let (store, item, order) = (purchase.store(), purchase.item(), purchase.order());
    let stock = store.stock(item).await?.unwrap_or(0);
    purchase.work().await;
    if let Some(answer) = fault::inject(purchase).await? {
        return Ok(answer);
    }
    if stock < order.quantity {
        return Ok(Answer::SoldOut);
    }
    store.put_stock(item, stock - order.quantity).await?;
    store.record(item, &order).await?;
    Ok(Answer::Sold(order.id))
}
