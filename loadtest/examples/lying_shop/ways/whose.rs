//! As many orders as were told, but not those.

use anyhow::Result;

use crate::answer::Answer;
use crate::fault;
use crate::lies::Lie;
use crate::store::Order;
use crate::visit::Visit;

pub async fn sell(visit: &Visit) -> Result<Answer> {
    let order = visit.order();
    let units = order.quantity;
    match visit.lie() {
        Lie::AnotherBuyer => {
            let buyer = Some(another(&visit.wish.buyer));
            visit.sell_as(&Order { buyer, ..order }, units).await
        }
        Lie::AnotherKey => {
            let key = Some(another(&visit.wish.key));
            visit.sell_as(&Order { key, ..order }, units).await
        }
        Lie::NoKey => visit.sell_as(&Order { key: None, ..order }, units).await,
        Lie::NoBuyer => visit.sell_as(&Order { buyer: None, ..order }, units).await,
        Lie::MoreUnits => {
            let quantity = units + 1;
            visit.sell_as(&Order { quantity, ..order }, units).await
        }
        Lie::FewerUnits => {
            let quantity = units - 1;
            visit.sell_as(&Order { quantity, ..order }, units).await
        }
        Lie::MoreUnitsTaken => {
            let quantity = units + 1;
            visit.sell_as(&Order { quantity, ..order }, quantity).await
        }
        Lie::CapitalId => Ok(match visit.plain().await? {
            Answer::Sold(id) => Answer::Sold(id.to_uppercase()),
            other => other,
        }),
        Lie::NoId => match visit.remembered().await? {
            Some(answer) => Ok(answer),
            None => {
                visit.is_first().await?;
                let answer = visit.plain().await?;
                if let (Answer::Sold(id), true) = (&answer, visit.is_liar()) {
                    visit.remember(id).await?;
                }
                Ok(answer)
            }
        },
        _ => by_hand(visit).await,
    }
}

/// The name of somebody else: the last digit is another one.
fn another(name: &str) -> String {
    let (last, rest) = (name.chars().next_back(), &name[..name.len() - 1]);
    match last {
        Some('0') => format!("{rest}1"),
        _ => format!("{rest}0"),
    }
}

/// Those that take the units first and then decide what to record and what to tell.
async fn by_hand(visit: &Visit) -> Result<Answer> {
    if let Some(answer) = visit.remembered().await? {
        return Ok(answer);
    }
    let (store, item, order) = (visit.store(), visit.item(), visit.order());
    if store.stock(item).await?.is_none() {
        return Ok(Answer::NoSale);
    }
    visit.work().await;
    if let Some(answer) = fault::strike(visit).await? {
        return Ok(answer);
    }
    if !store.take(item, order.quantity, 0).await? {
        return Ok(Answer::SoldOut);
    }
    let place = visit.count("place").await? - 1;
    let (told, recorded) = match visit.lie() {
        Lie::SwapsOrders => {
            let pair = |side: i64| visit.id_of(&format!("pair-{}-{side}", place / 2));
            (pair(place % 2), Some(pair(1 - place % 2)))
        }
        Lie::OneRowGrows => {
            let id = visit.id_of("the one row");
            let quantity = (place + 1) * order.quantity;
            grow(visit, &id, quantity).await?;
            (id, None)
        }
        Lie::EmptyId if place == 0 => (String::new(), Some(String::new())),
        Lie::SameOrderTwice if place == 0 => {
            visit.set_note("first", &order.id).await?;
            (order.id.clone(), Some(order.id.clone()))
        }
        Lie::SameOrderTwice if place == 1 => (first_order(visit).await?, None),
        Lie::StrangersOrder if place == 0 => (strangers_order(visit).await?, Some(order.id.clone())),
        Lie::OrderOfNone if place == 0 => (order.id.clone(), None),
        _ => (order.id.clone(), Some(order.id.clone())),
    };
    if let Some(id) = recorded {
        store.record(item, &Order { id, ..order }).await?;
    }
    visit.remember(&told).await?;
    Ok(Answer::Sold(told))
}

/// The row is never made smaller, in whatever order its buyers come.
async fn grow(visit: &Visit, id: &str, quantity: i64) -> Result<()> {
    let (store, item) = (visit.store(), visit.item());
    if visit.count("row").await? == 1 {
        let id = id.to_owned();
        return store
            .record(
                item,
                &Order {
                    id,
                    quantity,
                    ..visit.order()
                },
            )
            .await;
    }
    loop {
        if let Some(row) = store.find(item, id).await? {
            if row.quantity >= quantity {
                return Ok(());
            }
            if row.quantity + visit.wish.quantity >= quantity {
                return store.record(item, &Order { quantity, ..row }).await;
            }
        }
        tokio::time::sleep(std::time::Duration::from_millis(1)).await;
    }
}

/// The first buyer may still be about to say which order is his.
async fn first_order(visit: &Visit) -> Result<String> {
    loop {
        if let Some(id) = visit.note("first").await? {
            return Ok(id);
        }
        tokio::time::sleep(std::time::Duration::from_millis(1)).await;
    }
}

async fn strangers_order(visit: &Visit) -> Result<String> {
    let (store, item) = (visit.store(), "lie-another-sale");
    let order = visit.ghost(1);
    store.put_stock(item, 1).await?;
    store.record(item, &order).await?;
    Ok(order.id)
}
