//! Ledgers that are right at one time and wrong at another.

use std::time::Duration;

use anyhow::Result;

use crate::answer::Answer;
use crate::fault;
use crate::lies::Lie;
use crate::purchase::Purchase;
use crate::store::Order;

/// The note that counts the purchases of a sale.
const CAME: &str = "came";

const AFTER_A_REPEAT: Duration = Duration::from_millis(10);
const LATER: Duration = Duration::from_millis(400);
const SOLD_OUT_FOR: Duration = Duration::from_secs(1);
const LATE_REPEAT: Duration = Duration::from_millis(900);

/// The pause between two looks for the next purchase.
const LOOK_EVERY: Duration = Duration::from_millis(5);

pub async fn sell(purchase: &Purchase) -> Result<Answer> {
    let came = purchase.count(CAME).await?;
    match purchase.lie() {
        Lie::WritesLate => written_late(purchase, comes_another(purchase.clone(), came)).await,
        Lie::WritesBothLate => both_late(purchase, came).await,
        Lie::WritesLateOnce => match purchase.remembered().await? {
            Some(answer) => Ok(answer),
            None if purchase.is_first().await? => written_late(purchase, comes_another(purchase.clone(), came)).await,
            None => purchase.plain().await,
        },
        Lie::WritesLastLate => match purchase.remembered().await? {
            Some(answer) => Ok(answer),
            None if purchase.store().stock(purchase.item()).await? == Some(purchase.request.quantity) => {
                written_late(purchase, comes_another(purchase.clone(), came)).await
            }
            None => purchase.plain().await,
        },
        Lie::WritesWhenSoldOut => written_late(purchase, becomes_sold_out(purchase.clone())).await,
        Lie::EntersAfterRepeat | Lie::DeletesAfterRepeat | Lie::TakesAfterRepeat | Lie::MovesAfterRepeat => {
            let known = purchase.store().find(purchase.item(), &purchase.order().id).await?;
            if known.is_some() && purchase.is_sold_out().await? && purchase.is_first().await? {
                spoil_after(purchase, AFTER_A_REPEAT);
            }
            purchase.plain().await
        }
        Lie::SellsAgainLater => sold_again(purchase).await,
        Lie::EntersAfterLateRepeat => {
            let came = format!("came {}", purchase.request.key);
            let is_late = purchase.since_first(&came).await? >= LATE_REPEAT;
            if is_late && purchase.no_sale_or_known().await?.is_some() && purchase.is_first().await? {
                spoil_after(purchase, AFTER_A_REPEAT);
            }
            purchase.plain().await
        }
        _ => {
            let answer = purchase.plain().await?;
            let sold = matches!(answer, Answer::Sold(_));
            if sold && purchase.is_sold_out().await? && purchase.is_first().await? {
                spoil_after(purchase, LATER);
            }
            Ok(answer)
        }
    }
}

/// Sells at once, and writes the order when `may_write` returns true.
async fn written_late(purchase: &Purchase, may_write: impl Future<Output = bool> + Send + 'static) -> Result<Answer> {
    if let Some(answer) = known_or_crashed(purchase).await? {
        return Ok(answer);
    }
    let order = purchase.order();
    if !purchase.store().take(purchase.item(), order.quantity, 0).await? {
        return Ok(Answer::SoldOut);
    }
    purchase.remember(&order.id).await?;
    let id = order.id.clone();
    let purchase = purchase.clone();
    tokio::spawn(async move {
        if may_write.await {
            purchase.store().record(purchase.item(), &order).await.unwrap();
        }
    });
    Ok(Answer::Sold(id))
}

async fn both_late(purchase: &Purchase, came: i64) -> Result<Answer> {
    if let Some(answer) = known_or_crashed(purchase).await? {
        return Ok(answer);
    }
    let order = purchase.order();
    let promised = purchase
        .shop
        .notes
        .add(purchase.item(), "promised", order.quantity)
        .await?;
    if promised > purchase.opened_with().await? {
        purchase
            .shop
            .notes
            .add(purchase.item(), "promised", -order.quantity)
            .await?;
        return Ok(Answer::SoldOut);
    }
    purchase.remember(&order.id).await?;
    let id = order.id.clone();
    let purchase = purchase.clone();
    tokio::spawn(async move {
        if comes_another(purchase.clone(), came).await {
            let sold = purchase.store().sell(purchase.item(), &order, order.quantity, 0);
            sold.await.unwrap();
        }
    });
    Ok(Answer::Sold(id))
}

/// Waits until more than `came` purchases have come. A buyer that is alone reads the ledger before it sends the next one,
/// so a write after that is too late on any computer. Returns false when the sale is closed.
async fn comes_another(purchase: Purchase, came: i64) -> bool {
    loop {
        match purchase.note(CAME).await.unwrap() {
            None => return false,
            Some(now) if now != came.to_string() => return true,
            Some(_) => tokio::time::sleep(LOOK_EVERY).await,
        }
    }
}

/// Waits until the last unit is sold. Returns false when the sale is closed.
async fn becomes_sold_out(purchase: Purchase) -> bool {
    loop {
        match purchase.store().stock(purchase.item()).await.unwrap() {
            None => return false,
            Some(left) if left <= 0 => return true,
            Some(_) => tokio::time::sleep(LOOK_EVERY).await,
        }
    }
}

async fn sold_again(purchase: &Purchase) -> Result<Answer> {
    let answer = purchase.plain().await?;
    if !matches!(answer, Answer::SoldOut) {
        return Ok(answer);
    }
    let is_late = purchase.since_first("sold out").await? >= SOLD_OUT_FOR;
    if !is_late || !purchase.is_first().await? {
        return Ok(answer);
    }
    let (store, item, order) = (purchase.store(), purchase.item(), purchase.order());
    store.change(item, -order.quantity).await?;
    store.record(item, &order).await?;
    Ok(Answer::Sold(order.id))
}

async fn known_or_crashed(purchase: &Purchase) -> Result<Option<Answer>> {
    if let Some(answer) = purchase.remembered().await? {
        return Ok(Some(answer));
    }
    if purchase.store().stock(purchase.item()).await?.is_none() {
        return Ok(Some(Answer::NoSale));
    }
    purchase.work().await;
    fault::inject(purchase).await
}

fn spoil_after(purchase: &Purchase, wait: Duration) {
    let purchase = purchase.clone();
    tokio::spawn(async move {
        tokio::time::sleep(wait).await;
        if let Err(error) = spoil(&purchase).await {
            eprintln!("{error:#}");
        }
    });
}

async fn spoil(purchase: &Purchase) -> Result<()> {
    let (store, item) = (purchase.store(), purchase.item());
    // A sale that has been closed is not spoiled.
    if store.stock(item).await?.is_none() {
        return Ok(());
    }
    let Some(order) = store.orders(item).await?.into_iter().next() else {
        return Ok(());
    };
    match purchase.lie() {
        Lie::EntersAfterRepeat | Lie::EntersLater | Lie::EntersAfterLateRepeat => {
            store.record(item, &purchase.ghost(1)).await
        }
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
            let id = purchase.ghost(1).id;
            store.record(item, &Order { id, ..order }).await
        }
        _ => Ok(()),
    }
}
