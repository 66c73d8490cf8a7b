//! Crashes with effects afterwards. The fault itself is in `fault`.

use std::time::Duration;

use anyhow::Result;
use axum::http::StatusCode;

use super::wire::redirect;
use crate::answer::Answer;
use crate::fault;
use crate::http::never;
use crate::lies::Lie;
use crate::lying_instance::Shop;
use crate::purchase::Purchase;

const AFTER_THE_ANSWER: Duration = Duration::from_millis(40);

/// The key of the note about instances that are dying or dead. It belongs to no sale, because a restarted instance
/// knows no sale.
const DEAD: &str = "dead";

pub async fn sell(purchase: &Purchase) -> Result<Answer> {
    match purchase.lie() {
        Lie::LosesOnCrash => losing(purchase).await,
        Lie::CrashThenCut if purchase.request.crash && purchase.count("faults").await? > 1 => Ok(Answer::Cut),
        Lie::CrashAfterAnswer | Lie::CrashThenCut if purchase.request.crash => {
            let answer = purchase.plain().await;
            tokio::spawn(async {
                tokio::time::sleep(AFTER_THE_ANSWER).await;
                fault::kill_this_process()
            });
            answer
        }
        lie if is_of_survivors(lie) => surviving(purchase).await,
        Lie::StaysDead if purchase.note("dead").await?.as_ref() == Some(&purchase.shop.instance) => Ok(Answer::fails()),
        _ => purchase.plain().await,
    }
}

/// Returns whether a living instance serves nobody while another one is dead.
pub fn is_of_survivors(lie: Lie) -> bool {
    matches!(
        lie,
        Lie::SurvivorFails
            | Lie::SurvivorCuts
            | Lie::SurvivorHangs
            | Lie::SurvivorSays200
            | Lie::SurvivorSays502
            | Lie::SurvivorMoves
    )
}

/// Sells, but while another instance is dead it serves nobody.
pub async fn surviving(purchase: &Purchase) -> Result<Answer> {
    let Shop { notes, instance, .. } = &*purchase.shop;
    if purchase.request.crash {
        notes.set(DEAD, instance, "1").await?;
    }
    if notes.all(DEAD).await?.iter().any(|(name, _)| name != instance) {
        return Ok(unserved(purchase.lie()).await);
    }
    purchase.plain().await
}

async fn unserved(lie: Lie) -> Answer {
    match lie {
        Lie::SurvivorCuts => Answer::Cut,
        Lie::SurvivorHangs => never().await,
        Lie::SurvivorSays200 => Answer::Status(StatusCode::OK),
        Lie::SurvivorSays502 => Answer::Status(StatusCode::BAD_GATEWAY),
        Lie::SurvivorMoves => redirect(307, "/purchases"),
        _ => Answer::fails(),
    }
}

/// Notes that this instance has just started.
pub async fn is_back(shop: &Shop) -> Result<()> {
    shop.notes.remove(DEAD, &shop.instance).await
}

/// Sells, and notes the order for the instance that loses it. Deletes the order again if a copy of that purchase
/// recorded it once more.
async fn losing(purchase: &Purchase) -> Result<Answer> {
    let order = purchase.order();
    let answer = purchase.sell_as(&order, order.quantity).await?;
    if matches!(answer, Answer::Sold(_)) {
        purchase
            .set_note(&fault::sold_by(&purchase.shop.instance), &order.id)
            .await?;
        if purchase.note("lost").await?.as_ref() == Some(&order.id) {
            purchase.store().delete(purchase.item(), &order.id).await?;
        }
    }
    Ok(answer)
}
