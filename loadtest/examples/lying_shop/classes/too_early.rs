//! The answer is sold out while units are left.

use std::time::Duration;

use anyhow::Result;

use super::honest::reserving;
use crate::answer::Answer;
use crate::lies::Lie;
use crate::locks;
use crate::purchase::Purchase;
use crate::store::reserves::ReserveKind;

const BEHIND_FOR: Duration = Duration::from_millis(300);

pub async fn sell(purchase: &Purchase) -> Result<Answer> {
    match purchase.lie() {
        Lie::RefusesReserved => return reserving(purchase, ReserveKind::ApartForLong, Answer::SoldOut).await,
        Lie::SoldOutWhileLocked => return locks::sell(purchase, Duration::ZERO, Answer::SoldOut).await,
        _ => {}
    }
    if let Some(answer) = purchase.no_sale_or_known().await? {
        return Ok(answer);
    }
    let refused = !purchase.request.crash
        && match purchase.lie() {
            Lie::EarlySoldOut => {
                let place = purchase.count("came").await?;
                place <= 20 && place % 3 == 0
            }
            Lie::SoldOutThenSells => purchase.count("came").await? <= 3,
            Lie::SecondBehind => purchase.shop.instance != "app-1" && purchase.since_first("began").await? < BEHIND_FOR,
            Lie::RefusesLast => {
                let stock = purchase.store().stock(purchase.item()).await?;
                stock == Some(purchase.request.quantity) && purchase.is_first().await?
            }
            _ => false,
        };
    if refused {
        Ok(Answer::SoldOut)
    } else {
        purchase.plain().await
    }
}
