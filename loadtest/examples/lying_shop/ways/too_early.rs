//! "Sold out", said while units were to be had.

use std::time::{Duration, SystemTime, UNIX_EPOCH};

use anyhow::Result;

use super::honest::reserving;
use crate::answer::Answer;
use crate::lies::Lie;
use crate::locks;
use crate::store::reserves::Place;
use crate::visit::Visit;

const BEHIND_FOR: u128 = 300;

pub async fn sell(visit: &Visit) -> Result<Answer> {
    match visit.lie() {
        Lie::RefusesReserved => return reserving(visit, Place::Apart, Answer::SoldOut).await,
        Lie::SoldOutWhileLocked => return locks::sell(visit, Duration::ZERO, Answer::SoldOut).await,
        _ => {}
    }
    if let Some(answer) = visit.no_sale_or_known().await? {
        return Ok(answer);
    }
    let refused = !visit.wish.crash
        && match visit.lie() {
            Lie::EarlySoldOut => {
                let place = visit.count("came").await?;
                place <= 20 && place % 3 == 0
            }
            Lie::SoldOutThenSells => visit.count("came").await? <= 3,
            Lie::SecondBehind => visit.shop.instance != "app-1" && is_fresh(visit).await?,
            Lie::RefusesLast => {
                let stock = visit.store().stock(visit.item()).await?;
                stock == Some(visit.wish.quantity) && visit.is_first().await?
            }
            _ => false,
        };
    if refused {
        Ok(Answer::SoldOut)
    } else {
        visit.plain().await
    }
}

/// Whether the first purchase of the sale came a moment ago.
async fn is_fresh(visit: &Visit) -> Result<bool> {
    let now = SystemTime::now().duration_since(UNIX_EPOCH)?.as_millis();
    match visit.note("began").await? {
        Some(began) => Ok(now < began.parse::<u128>()? + BEHIND_FOR),
        None => {
            visit.set_note("began", &now.to_string()).await?;
            Ok(true)
        }
    }
}
