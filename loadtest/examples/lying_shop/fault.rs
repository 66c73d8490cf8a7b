//! `X-Fault: crash@write`: what happens to a purchase with a fault just before it writes.

use std::time::Duration;

use anyhow::Result;

use crate::answer::Answer;
use crate::classes::faults;
use crate::lies::Lie;
use crate::purchase::Purchase;

/// Kills this process, if this purchase is to do so. An answer ends the purchase in another way.
pub async fn inject(purchase: &Purchase) -> Result<Option<Answer>> {
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
        Lie::IgnoresFaults | Lie::CrashAfterAnswer | Lie::CrashThenCut => return Ok(None),
        Lie::MissesFirst | Lie::MissesFirstAndForgets | Lie::MissesFirstAndEnters
            if purchase.is_in_first_sale().await? =>
        {
            return Ok(None);
        }
        Lie::LosesOnCrash => faults::lose_an_order(purchase).await?,
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

/// SIGKILL: no destructor runs, no connection is closed in order.
pub fn kill_this_process() -> ! {
    let _ = nix::sys::signal::raise(nix::sys::signal::Signal::SIGKILL);
    unreachable!("no process outlives that signal");
}
