//! Crashes that show in what comes after them. What the fault itself does is in `fault`.

use std::time::Duration;

use anyhow::Result;

use crate::answer::Answer;
use crate::fault;
use crate::lies::Lie;
use crate::purchase::Purchase;
use crate::shop::Shop;

/// How often a purchase with a fault looks for an order that it can lose.
const LOOK_EVERY: Duration = Duration::from_millis(5);

const AFTER_THE_ANSWER: Duration = Duration::from_millis(40);

/// Who is about to die, or dead: noted in no sale, because who comes back knows of none.
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
        Lie::SurvivorFails => surviving(purchase).await,
        Lie::StaysDead if purchase.note("dead").await?.as_ref() == Some(&purchase.shop.instance) => Ok(Answer::fails()),
        _ => purchase.plain().await,
    }
}

async fn surviving(purchase: &Purchase) -> Result<Answer> {
    let Shop { notes, instance, .. } = &*purchase.shop;
    if purchase.request.crash {
        notes.set(DEAD, instance, "1").await?;
    }
    if notes.all(DEAD).await?.iter().any(|(name, _)| name != instance) {
        return Ok(Answer::fails());
    }
    purchase.plain().await
}

/// This instance has just been started.
pub async fn is_back(shop: &Shop) -> Result<()> {
    shop.notes.remove(DEAD, &shop.instance).await
}

/// Sells, and notes the order for whoever is to lose it. A copy of that purchase may be about to enter it once more.
async fn losing(purchase: &Purchase) -> Result<Answer> {
    let order = purchase.order();
    let answer = purchase.sell_as(&order, order.quantity).await?;
    if matches!(answer, Answer::Sold(_)) {
        purchase.set_note(&sold_by(&purchase.shop.instance), &order.id).await?;
        if purchase.note("lost").await?.as_ref() == Some(&order.id) {
            purchase.store().delete(purchase.item(), &order.id).await?;
        }
    }
    Ok(answer)
}

/// Deletes an order that another instance has sold: its buyer hears of it whoever dies here.
pub async fn lose_an_order(purchase: &Purchase) -> Result<()> {
    let other = match purchase.shop.instance.as_str() {
        "app-1" => sold_by("app-2"),
        _ => sold_by("app-1"),
    };
    let id = loop {
        match purchase.note(&other).await? {
            Some(id) => break id,
            None => tokio::time::sleep(LOOK_EVERY).await,
        }
    };
    purchase.set_note("lost", &id).await?;
    purchase.store().delete(purchase.item(), &id).await
}

fn sold_by(instance: &str) -> String {
    format!("sold by {instance}")
}
