//! Books that are right at one moment and wrong at another.

use std::time::Duration;

use anyhow::Result;

use crate::answer::Answer;
use crate::fault;
use crate::lies::Lie;
use crate::store::Order;
use crate::visit::Visit;

const AFTER_A_REPEAT: Duration = Duration::from_millis(10);
const LATER: Duration = Duration::from_millis(700);
const LATE: Duration = Duration::from_millis(5);

pub async fn sell(visit: &Visit) -> Result<Answer> {
    match visit.lie() {
        Lie::WritesLate => written_late(visit).await,
        Lie::WritesBothLate => both_late(visit).await,
        Lie::WritesLateOnce => match visit.remembered().await? {
            Some(answer) => Ok(answer),
            None if visit.is_first().await? => written_late(visit).await,
            None => visit.plain().await,
        },
        Lie::WritesLastLate => match visit.remembered().await? {
            Some(answer) => Ok(answer),
            None if visit.store().stock(visit.item()).await? == Some(visit.wish.quantity) => written_late(visit).await,
            None => visit.plain().await,
        },
        Lie::EntersAfterRepeat | Lie::DeletesAfterRepeat | Lie::TakesAfterRepeat | Lie::MovesAfterRepeat => {
            let known = visit.store().find(visit.item(), &visit.order().id).await?;
            if known.is_some() && visit.is_sold_out().await? && visit.is_first().await? {
                spoil_after(visit, AFTER_A_REPEAT);
            }
            visit.plain().await
        }
        _ => {
            let answer = visit.plain().await?;
            let sold = matches!(answer, Answer::Sold(_));
            if sold && visit.is_sold_out().await? && visit.is_first().await? {
                spoil_after(visit, LATER);
            }
            Ok(answer)
        }
    }
}

async fn written_late(visit: &Visit) -> Result<Answer> {
    if let Some(answer) = known_or_crashed(visit).await? {
        return Ok(answer);
    }
    let order = visit.order();
    if !visit.store().take(visit.item(), order.quantity, 0).await? {
        return Ok(Answer::SoldOut);
    }
    visit.remember(&order.id).await?;
    let id = order.id.clone();
    let visit = visit.clone();
    tokio::spawn(async move {
        tokio::time::sleep(LATE).await;
        visit.store().record(visit.item(), &order).await.unwrap();
    });
    Ok(Answer::Sold(id))
}

async fn both_late(visit: &Visit) -> Result<Answer> {
    if let Some(answer) = known_or_crashed(visit).await? {
        return Ok(answer);
    }
    let order = visit.order();
    let promised = visit.shop.notes.add(visit.item(), "promised", order.quantity).await?;
    if promised > visit.opened_with().await? {
        visit.shop.notes.add(visit.item(), "promised", -order.quantity).await?;
        return Ok(Answer::SoldOut);
    }
    visit.remember(&order.id).await?;
    let id = order.id.clone();
    let visit = visit.clone();
    tokio::spawn(async move {
        tokio::time::sleep(LATE).await;
        let sold = visit.store().sell(visit.item(), &order, order.quantity, 0);
        sold.await.unwrap();
    });
    Ok(Answer::Sold(id))
}

async fn known_or_crashed(visit: &Visit) -> Result<Option<Answer>> {
    if let Some(answer) = visit.remembered().await? {
        return Ok(Some(answer));
    }
    if visit.store().stock(visit.item()).await?.is_none() {
        return Ok(Some(Answer::NoSale));
    }
    visit.work().await;
    fault::strike(visit).await
}

fn spoil_after(visit: &Visit, wait: Duration) {
    let visit = visit.clone();
    tokio::spawn(async move {
        tokio::time::sleep(wait).await;
        if let Err(error) = spoil(&visit).await {
            eprintln!("{error:#}");
        }
    });
}

async fn spoil(visit: &Visit) -> Result<()> {
    let (store, item) = (visit.store(), visit.item());
    // A sale that was closed meanwhile is left alone.
    if store.stock(item).await?.is_none() {
        return Ok(());
    }
    let Some(order) = store.orders(item).await?.into_iter().next() else {
        return Ok(());
    };
    match visit.lie() {
        Lie::EntersAfterRepeat | Lie::EntersLater => store.record(item, &visit.ghost(1)).await,
        Lie::DeletesAfterRepeat | Lie::DeletesLater => store.delete(item, &order.id).await,
        Lie::TakesAfterRepeat | Lie::TakesLater => store.change(item, -1).await,
        Lie::ReturnsLater => store.change(item, 1).await,
        Lie::MovesAfterRepeat | Lie::MovesLater => {
            let buyer = Some("somebody".to_owned());
            store.record(item, &Order { buyer, ..order }).await
        }
        Lie::ChangesUnitsLater => {
            let quantity = order.quantity + 1;
            store.record(item, &Order { quantity, ..order }).await
        }
        Lie::ChangesKeyLater => {
            let key = Some("another-key".to_owned());
            store.record(item, &Order { key, ..order }).await
        }
        Lie::ChangesIdLater => {
            store.delete(item, &order.id).await?;
            let id = visit.ghost(1).id;
            store.record(item, &Order { id, ..order }).await
        }
        _ => Ok(()),
    }
}
