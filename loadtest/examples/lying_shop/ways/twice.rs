//! One key that buys twice, or is told something else the second time.

use std::time::{Duration, SystemTime, UNIX_EPOCH};

use anyhow::Result;
use uuid::Uuid;

use crate::answer::Answer;
use crate::fault;
use crate::lies::Lie;
use crate::store::{Order, Sale};
use crate::visit::Visit;

const REMEMBERED_FOR: Duration = Duration::from_millis(600);

pub async fn sell(visit: &Visit) -> Result<Answer> {
    let wish = &visit.wish;
    let honest_here = wish.item.ends_with("-again") || wish.buyer == "b-last";
    match visit.lie() {
        Lie::ForgetsKeys => anew(visit).await,
        Lie::HonestOnlyAgain if honest_here => visit.plain().await,
        Lie::HonestWithoutWork if wish.work_ms == 0 => visit.plain().await,
        Lie::HonestOnlyAgain | Lie::HonestWithoutWork => anew(visit).await,
        Lie::ForgetsKeysAtOnce => {
            if let Some(answer) = visit.remembered().await? {
                return Ok(answer);
            }
            tokio::time::sleep(Duration::from_millis(5)).await;
            anew(visit).await
        }
        Lie::ForgetsKeysAfter => {
            let name = format!("at:{}", wish.key);
            let now = SystemTime::now().duration_since(UNIX_EPOCH)?.as_millis();
            let sold_at: Option<u128> = visit.note(&name).await?.map(|at| at.parse()).transpose()?;
            if sold_at.is_some_and(|at| now > at + REMEMBERED_FOR.as_millis()) {
                return anew(visit).await;
            }
            let answer = visit.plain().await?;
            if sold_at.is_none() && matches!(answer, Answer::Sold(_)) {
                visit.set_note(&name, &now.to_string()).await?;
            }
            Ok(answer)
        }
        Lie::ForgetsKeysPerInstance => {
            let known = visit.shop.memory.lock().unwrap().get(&wish.key).cloned();
            if let Some(known) = known {
                return Ok(visit.again(&known));
            }
            let answer = anew(visit).await?;
            if let Answer::Sold(id) = &answer {
                let id = id.clone();
                let order = Order { id, ..visit.order() };
                visit.shop.memory.lock().unwrap().insert(wish.key.clone(), order);
            }
            Ok(answer)
        }
        Lie::SellsOtherQuantity => under(visit, &format!("{} {}", wish.key, wish.quantity)).await,
        Lie::SellsOtherBuyer => under(visit, &format!("{} {}", wish.key, wish.buyer)).await,
        _ => match visit.store().find(visit.item(), &visit.order().id).await? {
            Some(known) => again(visit, known).await,
            None => visit.plain().await,
        },
    }
}

/// One more purchase, whatever the key.
async fn anew(visit: &Visit) -> Result<Answer> {
    under(visit, &Uuid::new_v4().to_string()).await
}

/// The honest sale, but what tells one order from another is `what`.
async fn under(visit: &Visit, what: &str) -> Result<Answer> {
    let (store, item) = (visit.store(), visit.item());
    if store.stock(item).await?.is_none() {
        return Ok(Answer::NoSale);
    }
    visit.work().await;
    if let Some(answer) = fault::strike(visit).await? {
        return Ok(answer);
    }
    let order = Order {
        id: visit.id_of(what),
        ..visit.order()
    };
    Ok(match store.sell(item, &order, order.quantity, 0).await? {
        Sale::Sold => {
            visit.remember(&order.id).await?;
            Answer::Sold(order.id)
        }
        Sale::Known(known) => visit.again(&known),
        Sale::SoldOut => Answer::SoldOut,
        Sale::Gone => Answer::NoSale,
    })
}

/// A repeat, told or treated otherwise than it should be.
async fn again(visit: &Visit, known: Order) -> Result<Answer> {
    let (store, item, wish) = (visit.store(), visit.item(), &visit.wish);
    let sold_out = visit.is_sold_out().await?;
    let same_buyer = known.buyer.as_ref() == Some(&wish.buyer);
    let same = same_buyer && known.quantity == wish.quantity;
    match visit.lie() {
        Lie::GrowsOtherQuantity if same_buyer && known.quantity < wish.quantity => {
            let more = wish.quantity - known.quantity;
            if !store.take(item, more, 0).await? {
                return Ok(Answer::SoldOut);
            }
            let quantity = wish.quantity;
            store
                .record(
                    item,
                    &Order {
                        quantity,
                        ..known.clone()
                    },
                )
                .await?;
            Ok(Answer::Sold(known.id))
        }
        // Who bought before it grew.
        Lie::GrowsOtherQuantity if same_buyer => Ok(Answer::Sold(known.id)),
        Lie::AgreesToOtherQuantity if same_buyer => Ok(Answer::Sold(known.id)),
        Lie::AgreesToOtherBuyer if known.quantity == wish.quantity => Ok(Answer::Sold(known.id)),
        _ if !same => Ok(visit.again(&known)),
        Lie::ForgetsKeysWhenSoldOut if sold_out => {
            let id = Uuid::new_v4().to_string();
            store.change(item, -wish.quantity).await?;
            let order = Order { id, ..visit.order() };
            store.record(item, &order).await?;
            Ok(Answer::Sold(order.id))
        }
        Lie::FloodsOnRepeat => {
            if visit.is_first().await? {
                let flood: Vec<Order> = (0..5_000).map(|_| visit.ghost(1)).collect();
                store.record_all(item, &flood).await?;
            }
            visit.plain().await
        }
        Lie::OtherIdOnRepeat => Ok(Answer::Sold(Uuid::new_v4().to_string())),
        Lie::SoldOutOnRepeat => Ok(Answer::SoldOut),
        Lie::SoldOutOnLateRepeat if sold_out => Ok(Answer::SoldOut),
        Lie::BusyOnRepeat => Ok(Answer::Busy),
        Lie::FailsOnRepeat => Ok(Answer::fails()),
        _ => visit.plain().await,
    }
}
