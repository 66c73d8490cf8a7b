//! Wrong at once: what every witness must see.

use anyhow::Result;

use crate::answer::Answer;
use crate::fault;
use crate::lies::Lie;
use crate::visit::Visit;

pub async fn sell(visit: &Visit) -> Result<Answer> {
    let (store, item, order) = (visit.store(), visit.item(), visit.order());
    if let Some(answer) = visit.remembered().await? {
        return Ok(answer);
    }
    if store.stock(item).await?.is_none() {
        return Ok(Answer::NoSale);
    }
    match visit.lie() {
        Lie::OversellsAtZero | Lie::OversellsBelowZero => {
            let answer = visit.plain().await?;
            if !matches!(answer, Answer::SoldOut) || visit.count("beyond").await? > 3 {
                return Ok(answer);
            }
            if visit.lie() == Lie::OversellsBelowZero {
                store.change(item, -order.quantity).await?;
            }
            store.record(item, &order).await?;
            Ok(Answer::Sold(order.id))
        }
        Lie::Unlocked => unlocked(visit).await,
        _ if !visit.is_first().await? => visit.plain().await,
        Lie::LosesAnOrder => {
            store.take(item, order.quantity, 0).await?;
            visit.remember(&order.id).await?;
            Ok(Answer::Sold(order.id))
        }
        Lie::RecordsAGhost => {
            let ghost = visit.ghost(order.quantity);
            store.sell(item, &ghost, ghost.quantity, 0).await?;
            visit.plain().await
        }
        Lie::TellsWithoutWriting => {
            visit.remember(&order.id).await?;
            Ok(Answer::Sold(order.id))
        }
        Lie::RecordsWithoutTaking => {
            store.record(item, &order).await?;
            Ok(Answer::Sold(order.id))
        }
        _ => visit.plain().await,
    }
}

async fn unlocked(visit: &Visit) -> Result<Answer> {
    if let Some(answer) = visit.no_sale_or_known().await? {
        return Ok(answer);
    }
    let (store, item, order) = (visit.store(), visit.item(), visit.order());
    let stock = store.stock(item).await?.unwrap_or(0);
    visit.work().await;
    if let Some(answer) = fault::strike(visit).await? {
        return Ok(answer);
    }
    if stock < order.quantity {
        return Ok(Answer::SoldOut);
    }
    store.put_stock(item, stock - order.quantity).await?;
    store.record(item, &order).await?;
    Ok(Answer::Sold(order.id))
}
