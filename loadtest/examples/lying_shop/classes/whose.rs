//! The number of orders is right, but they are not those of the answers.

use anyhow::Result;

use crate::answer::Answer;
use crate::fault;
use crate::lies::Lie;
use crate::purchase::Purchase;
use crate::store::Order;

pub async fn sell(purchase: &Purchase) -> Result<Answer> {
    let order = purchase.order();
    let units = order.quantity;
    match purchase.lie() {
        Lie::AnotherBuyer => {
            let buyer = Some(another(&purchase.request.buyer));
            purchase.sell_as(&Order { buyer, ..order }, units).await
        }
        Lie::AnotherKey => {
            let key = Some(another(&purchase.request.key));
            purchase.sell_as(&Order { key, ..order }, units).await
        }
        Lie::NoKey => purchase.sell_as(&Order { key: None, ..order }, units).await,
        Lie::NoBuyer => purchase.sell_as(&Order { buyer: None, ..order }, units).await,
        Lie::MoreUnits => {
            let quantity = units + 1;
            purchase.sell_as(&Order { quantity, ..order }, units).await
        }
        Lie::FewerUnits => {
            let quantity = units - 1;
            purchase.sell_as(&Order { quantity, ..order }, units).await
        }
        Lie::MoreUnitsTaken => {
            let quantity = units + 1;
            purchase.sell_as(&Order { quantity, ..order }, quantity).await
        }
        Lie::CapitalId => Ok(match purchase.plain().await? {
            Answer::Sold(id) => Answer::Sold(id.to_uppercase()),
            other => other,
        }),
        Lie::NoId => match purchase.remembered().await? {
            Some(answer) => Ok(answer),
            None => {
                purchase.is_first().await?;
                let answer = purchase.plain().await?;
                if let (Answer::Sold(id), true) = (&answer, purchase.is_liar()) {
                    purchase.remember(id).await?;
                }
                Ok(answer)
            }
        },
        _ => by_hand(purchase).await,
    }
}

/// Returns another name: the last digit is different.
fn another(name: &str) -> String {
    let (last, rest) = (name.chars().next_back(), &name[..name.len() - 1]);
    match last {
        Some('0') => format!("{rest}1"),
        _ => format!("{rest}0"),
    }
}

/// Serves the lies that take the units first, and then choose the order to record and the id to answer.
async fn by_hand(purchase: &Purchase) -> Result<Answer> {
    if let Some(answer) = purchase.remembered().await? {
        return Ok(answer);
    }
    let (store, item, order) = (purchase.store(), purchase.item(), purchase.order());
    if store.stock(item).await?.is_none() {
        return Ok(Answer::NoSale);
    }
    purchase.work().await;
    if let Some(answer) = fault::inject(purchase).await? {
        return Ok(answer);
    }
    if !store.take(item, order.quantity, 0).await? {
        return Ok(Answer::SoldOut);
    }
    let place = purchase.count("place").await? - 1;
    let (told, recorded) = match purchase.lie() {
        Lie::SwapsOrders => {
            let pair = |side: i64| purchase.id_of(&format!("pair-{}-{side}", place / 2));
            (pair(place % 2), Some(pair(1 - place % 2)))
        }
        Lie::OneRowGrows => {
            let id = purchase.id_of("the one row");
            let quantity = (place + 1) * order.quantity;
            grow(purchase, &id, quantity).await?;
            (id, None)
        }
        Lie::EmptyId if place == 0 => (String::new(), Some(String::new())),
        Lie::SameOrderTwice if place == 0 => {
            purchase.set_note("first", &order.id).await?;
            (order.id.clone(), Some(order.id.clone()))
        }
        Lie::SameOrderTwice if place == 1 => (first_order(purchase).await?, None),
        Lie::StrangersOrder if place == 0 => (strangers_order(purchase).await?, Some(order.id.clone())),
        Lie::OrderOfNone if place == 0 => (order.id.clone(), None),
        _ => (order.id.clone(), Some(order.id.clone())),
    };
    if let Some(id) = recorded {
        store.record(item, &Order { id, ..order }).await?;
    }
    purchase.remember(&told).await?;
    Ok(Answer::Sold(told))
}

/// Sets the quantity of the one order. The quantity only grows, in whatever order the purchases arrive.
async fn grow(purchase: &Purchase, id: &str, quantity: i64) -> Result<()> {
    let (store, item) = (purchase.store(), purchase.item());
    if purchase.count("row").await? == 1 {
        let id = id.to_owned();
        return store
            .record(
                item,
                &Order {
                    id,
                    quantity,
                    ..purchase.order()
                },
            )
            .await;
    }
    loop {
        if let Some(row) = store.find(item, id).await? {
            if row.quantity >= quantity {
                return Ok(());
            }
            if row.quantity + purchase.request.quantity >= quantity {
                return store.record(item, &Order { quantity, ..row }).await;
            }
        }
        tokio::time::sleep(std::time::Duration::from_millis(1)).await;
    }
}

/// Waits for the order id of the first purchase, which may not be noted yet.
async fn first_order(purchase: &Purchase) -> Result<String> {
    loop {
        if let Some(id) = purchase.note("first").await? {
            return Ok(id);
        }
        tokio::time::sleep(std::time::Duration::from_millis(1)).await;
    }
}

async fn strangers_order(purchase: &Purchase) -> Result<String> {
    let (store, item) = (purchase.store(), "lie-another-sale");
    let order = purchase.ghost(1);
    store.put_stock(item, 1).await?;
    store.record(item, &order).await?;
    Ok(order.id)
}
