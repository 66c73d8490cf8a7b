//! One key buys more than once, or its repeat gets a wrong answer.

use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};

use anyhow::Result;
use axum::http::StatusCode;
use tokio::sync::oneshot;
use uuid::Uuid;

use super::elsewhere;
use crate::answer::Answer;
use crate::fault;
use crate::lies::Lie;
use crate::purchase::Purchase;
use crate::store::{Order, Sale};

const REMEMBERED_FOR: Duration = Duration::from_millis(600);

/// The longest wait for a copy, in a sale in which no purchase is copied.
const MET_WITHIN: Duration = Duration::from_secs(5);

/// The pause between two looks for a copy.
const LOOK_EVERY: Duration = Duration::from_millis(5);

/// The note that a copy has come in this sale.
const MET: &str = "met";

pub async fn sell(purchase: &Purchase) -> Result<Answer> {
    let request = &purchase.request;
    let honest_here = request.item.ends_with("-again") || request.buyer == "b-last";
    match purchase.lie() {
        Lie::ForgetsKeys => anew(purchase).await,
        Lie::HonestOnlyAgain if honest_here => purchase.plain().await,
        Lie::HonestWithoutWork if request.work_ms == 0 => purchase.plain().await,
        Lie::HonestOnlyAgain | Lie::HonestWithoutWork => anew(purchase).await,
        Lie::ForgetsKeysAtOnce => {
            if let Some(answer) = purchase.remembered().await? {
                return Ok(answer);
            }
            if purchase.count(&format!("came {}", request.key)).await? > 1 {
                purchase.set_note(MET, "1").await?;
            } else {
                meet_copy(purchase).await?;
            }
            anew(purchase).await
        }
        Lie::ForgetsKeysAfter => {
            let name = format!("at:{}", request.key);
            let now = SystemTime::now().duration_since(UNIX_EPOCH)?.as_millis();
            let sold_at: Option<u128> = purchase.note(&name).await?.map(|at| at.parse()).transpose()?;
            let is_late = sold_at.is_some_and(|at| now > at + REMEMBERED_FOR.as_millis());
            if is_late && purchase.is_sold_out().await? {
                return anew(purchase).await;
            }
            let answer = purchase.plain().await?;
            if sold_at.is_none() && matches!(answer, Answer::Sold(_)) {
                purchase.set_note(&name, &now.to_string()).await?;
            }
            Ok(answer)
        }
        Lie::ForgetsKeysPerInstance => {
            let known = purchase.shop.memory.lock().unwrap().get(&request.key).cloned();
            if let Some(known) = known {
                return Ok(purchase.again(&known));
            }
            let answer = anew(purchase).await?;
            if let Answer::Sold(id) = &answer {
                let id = id.clone();
                let order = Order { id, ..purchase.order() };
                purchase.shop.memory.lock().unwrap().insert(request.key.clone(), order);
            }
            Ok(answer)
        }
        Lie::SellsOtherQuantity => under(purchase, &format!("{} {}", request.key, request.quantity)).await,
        Lie::SellsOtherBuyer => under(purchase, &format!("{} {}", request.key, request.buyer)).await,
        Lie::SoldOutOnCopy | Lie::RejectedOnCopy | Lie::FailsOnCopy => without_copy(purchase).await,
        Lie::ForgetsTheGone | Lie::RefusesTheGone => without_the_gone(purchase).await,
        _ => match purchase.store().find(purchase.item(), &purchase.order().id).await? {
            Some(known) => again(purchase, known).await,
            None => first(purchase).await,
        },
    }
}

/// Serves the first delivery of a purchase.
async fn first(purchase: &Purchase) -> Result<Answer> {
    let answer = purchase.plain().await?;
    let is_sold = matches!(answer, Answer::Sold(_));
    if purchase.lie() == Lie::SellsThirdsElsewhere && is_sold && purchase.count("sold").await? % 3 == 0 {
        elsewhere::record(purchase).await?;
    }
    Ok(answer)
}

/// Sells again, whatever the key.
async fn anew(purchase: &Purchase) -> Result<Answer> {
    under(purchase, &Uuid::new_v4().to_string()).await
}

/// Serves the purchase honestly, with an order id made from `what`.
async fn under(purchase: &Purchase, what: &str) -> Result<Answer> {
    let (store, item) = (purchase.store(), purchase.item());
    if store.stock(item).await?.is_none() {
        return Ok(Answer::NoSale);
    }
    purchase.work().await;
    if let Some(answer) = fault::inject(purchase).await? {
        return Ok(answer);
    }
    let order = Order {
        id: purchase.id_of(what),
        ..purchase.order()
    };
    Ok(match store.sell(item, &order, order.quantity, 0).await? {
        Sale::Sold => {
            purchase.remember(&order.id).await?;
            Answer::Sold(order.id)
        }
        Sale::Known(known) => purchase.again(&known),
        Sale::SoldOut => Answer::SoldOut,
        Sale::Gone => Answer::NoSale,
    })
}

/// Serves the purchase honestly, unless the first delivery of its key is in progress.
async fn without_copy(purchase: &Purchase) -> Result<Answer> {
    if let Some(answer) = purchase.no_sale_or_known().await? {
        return Ok(answer);
    }
    let under_way = format!("under way {}", purchase.request.key);
    if purchase.count(&under_way).await? > 1 {
        purchase.set_note(MET, "1").await?;
        return Ok(match purchase.lie() {
            Lie::SoldOutOnCopy => Answer::SoldOut,
            Lie::RejectedOnCopy => Answer::Status(StatusCode::UNPROCESSABLE_ENTITY),
            _ => Answer::fails(),
        });
    }
    meet_copy(purchase).await?;
    let answer = purchase.plain().await;
    purchase.shop.notes.remove(purchase.item(), &under_way).await?;
    answer
}

/// Holds a purchase until the first copy of any purchase has come. So the first copy of a sale finds its purchase in
/// progress, however late it arrives.
async fn meet_copy(purchase: &Purchase) -> Result<()> {
    let begun = Instant::now();
    while purchase.note(MET).await?.is_none() {
        if begun.elapsed() >= MET_WITHIN {
            return purchase.set_note(MET, "1").await;
        }
        tokio::time::sleep(LOOK_EVERY).await;
    }
    Ok(())
}

/// Continues the sale after its buyer has hung up, and then forgets the owner of the order.
async fn without_the_gone(purchase: &Purchase) -> Result<Answer> {
    let (tell, told) = oneshot::channel();
    let served = purchase.clone();
    tokio::spawn(async move {
        let gone = format!("gone {}", served.request.key);
        let answer = first_or_again(&served, &gone).await;
        // The send fails when the buyer has hung up: the handler ends with its connection.
        if let Err(Ok(Answer::Sold(_))) = tell.send(answer) {
            served.set_note(&gone, "1").await.unwrap();
        }
    });
    told.await?
}

/// Sells first and works afterwards, so that the last unit is still there.
async fn first_or_again(purchase: &Purchase, gone: &str) -> Result<Answer> {
    if purchase.note(gone).await?.is_some() {
        return match purchase.lie() {
            Lie::ForgetsTheGone => below_zero(purchase).await,
            _ => Ok(Answer::SoldOut),
        };
    }
    let answer = match purchase.no_sale_or_known().await? {
        Some(answer) => answer,
        None => purchase.settle(0).await?,
    };
    purchase.work().await;
    Ok(answer)
}

/// Records one more order of this key, even without a unit for it.
async fn below_zero(purchase: &Purchase) -> Result<Answer> {
    let (store, item) = (purchase.store(), purchase.item());
    let id = Uuid::new_v4().to_string();
    let order = Order { id, ..purchase.order() };
    store.change(item, -order.quantity).await?;
    store.record(item, &order).await?;
    Ok(Answer::Sold(order.id))
}

/// Treats a repeat in a wrong way.
async fn again(purchase: &Purchase, known: Order) -> Result<Answer> {
    let (store, item, request) = (purchase.store(), purchase.item(), &purchase.request);
    let sold_out = purchase.is_sold_out().await?;
    let same_buyer = known.buyer.as_ref() == Some(&request.buyer);
    let same = same_buyer && known.quantity == request.quantity;
    match purchase.lie() {
        Lie::GrowsOtherQuantity if same_buyer && known.quantity < request.quantity => {
            let more = request.quantity - known.quantity;
            if !store.take(item, more, 0).await? {
                return Ok(Answer::SoldOut);
            }
            let quantity = request.quantity;
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
        // A repeat of the first purchase, after the order grew.
        Lie::GrowsOtherQuantity if same_buyer => Ok(Answer::Sold(known.id)),
        Lie::AgreesToOtherQuantity if same_buyer => Ok(Answer::Sold(known.id)),
        Lie::AgreesToOtherBuyer if known.quantity == request.quantity => Ok(Answer::Sold(known.id)),
        Lie::FailsOnOtherPurchase if !same => Ok(Answer::fails()),
        Lie::BusyOnOtherPurchase if !same => Ok(Answer::Busy),
        Lie::BusyOnOtherQuantity if same_buyer && !same => Ok(Answer::Busy),
        Lie::BusyOnOtherBuyer if !same_buyer => Ok(Answer::Busy),
        Lie::BusyThenSellsOther if !same => {
            let other = format!("{} {} {}", request.key, request.quantity, request.buyer);
            match purchase.count(&other).await? {
                1 => Ok(Answer::Busy),
                _ => below_zero(purchase).await,
            }
        }
        Lie::AnswersOtherWith200 if !same => Ok(Answer::Status(StatusCode::OK)),
        Lie::CutsOtherPurchase if !same => Ok(Answer::Cut),
        _ if !same => Ok(purchase.again(&known)),
        Lie::ForgetsKeysWhenSoldOut if sold_out => below_zero(purchase).await,
        Lie::FloodsOnRepeat => {
            if purchase.is_first().await? {
                let flood: Vec<Order> = (0..5_000).map(|_| purchase.ghost(1)).collect();
                store.record_all(item, &flood).await?;
            }
            purchase.plain().await
        }
        Lie::SellsAgainElsewhere
        | Lie::SellsAgainForAnother
        | Lie::SellsAgainInOtherStore
        | Lie::SellsAgainFarAndLate
        | Lie::SellsAgainInFirstSale => {
            elsewhere::record(purchase).await?;
            Ok(Answer::Sold(known.id))
        }
        Lie::OtherIdOnRepeat => Ok(Answer::Sold(Uuid::new_v4().to_string())),
        Lie::SoldOutOnRepeat => Ok(Answer::SoldOut),
        Lie::SoldOutOnLateRepeat if sold_out => Ok(Answer::SoldOut),
        Lie::BusyOnRepeat => Ok(Answer::Busy),
        Lie::FailsOnRepeat => Ok(Answer::fails()),
        _ => purchase.plain().await,
    }
}
