//! `X-Fault: crash@write` and `pause=3000@write`: the effect of the fault on a purchase, just before it writes.

use std::sync::atomic::Ordering;
use std::time::Duration;

use anyhow::Result;

use crate::answer::Answer;
use crate::classes::identity::is_silent_in_a_pause;
use crate::lies::Lie;
use crate::purchase::Purchase;

/// How long the admin listener of a process that did not die is silent.
const SEEMS_DEAD_FOR: Duration = Duration::from_millis(1_500);
const SEEMS_DEAD_BRIEFLY_FOR: Duration = Duration::from_millis(400);

/// The pause between two looks for an order of the other instance.
const LOOK_EVERY: Duration = Duration::from_millis(5);

/// Kills this process if the purchase carries the fault. Returns an answer where the lie does something else instead.
pub async fn inject(purchase: &Purchase) -> Result<Option<Answer>> {
    if let Some(pause) = purchase.request.pause.filter(|_| !is_silent_in_a_pause(purchase.lie())) {
        pause_this_process(pause)?;
    }
    if !purchase.request.crash {
        return Ok(None);
    }
    let (store, item, units) = (purchase.store(), purchase.item(), purchase.request.quantity);
    match purchase.lie() {
        Lie::CrashIs500 => return Ok(Some(Answer::fails())),
        Lie::CrashIsCut => return Ok(Some(Answer::Cut)),
        Lie::CrashIsSleep => {
            tokio::time::sleep(Duration::from_secs(12)).await;
            return Ok(Some(Answer::fails()));
        }
        Lie::CrashIsBusy => return Ok(Some(Answer::Busy)),
        Lie::CrashClosesAdmin => {
            purchase.shop.admin_connections.close_all();
            return Ok(Some(Answer::Cut));
        }
        Lie::CrashKeepsSelling
        | Lie::CrashSellsAsOther
        | Lie::CrashNamesNobody
        | Lie::CrashNamesOther
        | Lie::CrashAnswersLater
        | Lie::CrashFinishesFirst
        | Lie::CrashBriefly => {
            purchase.shop.admin_connections.close_all();
            let briefly = purchase.lie() == Lie::CrashBriefly;
            let silence = if briefly {
                SEEMS_DEAD_BRIEFLY_FOR
            } else {
                SEEMS_DEAD_FOR
            };
            purchase.shop.admin_connections.silence(silence);
            return Ok(Some(Answer::Cut));
        }
        Lie::CrashRenamesProcess => {
            purchase.shop.renamed.fetch_add(1, Ordering::Relaxed);
            purchase.shop.admin_connections.close_all();
            return Ok(Some(Answer::Cut));
        }
        Lie::IgnoresFaults | Lie::CrashAfterAnswer | Lie::CrashThenCut => return Ok(None),
        Lie::MissesFirst | Lie::MissesFirstAndForgets | Lie::MissesFirstAndEnters
            if purchase.is_in_first_sale().await? =>
        {
            return Ok(None);
        }
        Lie::LosesOnCrash => lose_an_order(purchase).await?,
        Lie::LeaksOnCrash => store.change(item, -units).await?,
        Lie::RefundsOnCrash => store.change(item, units).await?,
        Lie::SellsTwiceOnCrash => {
            for order in [purchase.order(), purchase.ghost(units)] {
                let order = crate::store::Order {
                    id: order.id,
                    ..purchase.order()
                };
                store.sell(item, &order, units, 0).await?;
            }
        }
        Lie::GhostOnCrash => drop(store.sell(item, &purchase.ghost(units), units, 0).await?),
        Lie::StaysDead => purchase.set_note("dead", &purchase.shop.instance).await?,
        _ => {}
    }
    purchase.set_note("crashed", "1").await?;
    kill_this_process()
}

/// Kills this process by SIGKILL: no destructor runs, no connection is closed properly.
pub fn kill_this_process() -> ! {
    let _ = nix::sys::signal::raise(nix::sys::signal::Signal::SIGKILL);
    unreachable!("no process outlives that signal");
}

/// Stops this process by SIGSTOP. Another process lets it go on.
fn pause_this_process(pause: Duration) -> Result<()> {
    let wake = format!("sleep {}; kill -CONT {}", pause.as_secs_f64(), std::process::id());
    std::process::Command::new("sh").args(["-c", &wake]).spawn()?;
    Ok(nix::sys::signal::raise(nix::sys::signal::Signal::SIGSTOP)?)
}

/// Deletes an order that the other instance has sold: its buyer receives the answer although this process dies.
async fn lose_an_order(purchase: &Purchase) -> Result<()> {
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

pub fn sold_by(instance: &str) -> String {
    format!("sold by {instance}")
}
