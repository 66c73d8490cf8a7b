//! A rolling replacement in the middle of a sale. Each instance in turn is asked to end (SIGTERM). It takes no new
//! purchase, finishes those that it has begun, and ends. Then a new process takes its place, and the next instance
//! follows. Buyers go on through the proxy all the time. The round counts only if a purchase was at work at each
//! instance when it was asked to end, each process ended by itself, and a new one serves.

use std::time::{Duration, Instant};

use anyhow::{Context, Result};
use futures_util::future::try_join_all;
use tokio::sync::SetOnce;
use tokio::time::{sleep, timeout};

use super::Threat;
use crate::attack::{AttackControl, Delivery, Injection, SendOptions};
use crate::audit::ExplainedUnknowns;
use crate::deployment::requirement::Requirement;
use crate::faults::restart;
use crate::http::BACK_WITHIN;
use crate::sale::Load;
use crate::shop::catalogue::Strategy;
use crate::trace::IncidentKind;

/// The purchase that is at work at the instance that is asked to end.
const AT_WORK: usize = 0;

/// Its business time, and the part of it before the request to end.
const WORK: Duration = Duration::from_millis(300);
const AT_WORK_AFTER: Duration = Duration::from_millis(100);

/// Buyers that buy one unit after the other until all instances are replaced, and the pause of each between two.
const REGULARS: usize = 4;
const PAUSE: Duration = Duration::from_millis(100);

/// The most purchases of each of them.
const MOST: usize = 10;

pub(super) const THREAT: Threat = Threat {
    name: "rolling-replacement",
    title: "instances are replaced",
    mostly_waits: true,
    load,
    requires: |_| vec![Requirement::Instances],
    injection: Some(Injection {
        places,
        // The proxy may have sent a purchase on a connection that was being closed.
        explains: ExplainedUnknowns::All,
        ..Injection::new(|control| Box::pin(inject(control)))
    }),
    source: include_str!("rolling_replacement.rs"),
    ..Threat::PLAIN
};

/// The places of the purchases that the injection sends, the one at work first.
fn places(load: &Load) -> Vec<usize> {
    (0..load.buyers.min(REGULARS + 1)).collect()
}

/// Returns a load of two waves. The first one has many purchases of some buyers, and cannot sell everything.
fn load(asked: Load, _: &Strategy) -> Load {
    let two_waves = asked.two_waves();
    let first_wave = two_waves.buyers + REGULARS * MOST;
    Load {
        requests: 2 * first_wave + two_waves.buyers,
        stock: (first_wave + two_waves.buyers / 4) as i64 * i64::from(two_waves.quantity),
        ..two_waves
    }
}

async fn inject(control: &AttackControl<'_>) -> Result<bool> {
    let is_over = SetOnce::new();
    let replacing = async {
        let mut are_replaced = true;
        for instance in 0..control.shop.count {
            are_replaced &= replace(control, instance).await?;
        }
        // This is the only place that sets it.
        let _ = is_over.set(());
        Ok(are_replaced)
    };
    let regulars = places(&control.attack.sale.load).into_iter().skip(1);
    let regulars = try_join_all(regulars.map(|place| keep_buying(control, place, &is_over)));
    let (are_replaced, _) = tokio::try_join!(replacing, regulars)?;
    Ok(are_replaced)
}

/// Buys until all instances are replaced.
async fn keep_buying(control: &AttackControl<'_>, place: usize, is_over: &SetOnce<()>) -> Result<()> {
    for _ in 0..MOST {
        control.send(place, SendOptions::default()).await?;
        if timeout(PAUSE, is_over.wait()).await.is_ok() {
            break;
        }
    }
    Ok(())
}

/// Replaces the process of one instance while a purchase is at work there. Returns whether it was at work, the process
/// ended by itself, and a new one serves.
async fn replace(control: &AttackControl<'_>, instance: usize) -> Result<bool> {
    let parts = control.shop.parts().context("the shop was not started here")?;
    let shop = parts.shop.clone();
    let at_work = SendOptions {
        delivery: Delivery::At(instance),
        work: Some(WORK),
        ..SendOptions::default()
    };
    let replacing = async {
        sleep(AT_WORK_AFTER).await;
        let asked = Instant::now();
        control.release_buyers();
        let processes = tokio::task::spawn_blocking(move || {
            let service = &shop.instances()[instance];
            let old = service.pid();
            let has_ended_well = service.stop(BACK_WITHIN)?;
            service.restart()?;
            service.wait_ready(restart::READY_WITHIN)?;
            anyhow::Ok((old, has_ended_well, service.pid()))
        });
        let (old, has_ended_well, new) = processes.await??;
        Ok((asked, Instant::now(), has_ended_well, [old, new]))
    };
    let (pair, replaced) = tokio::try_join!(control.send(AT_WORK, at_work), replacing)?;
    let (asked, serves, has_ended_well, [old, new]) = replaced;
    let was_at_work = pair.is_some_and(|pair| pair.response.ended > asked);
    if !was_at_work || !has_ended_well || old == new {
        return Ok(false);
    }
    let name = parts.shop.instances()[instance].name();
    control.note(IncidentKind::Replaced, name, asked, Some(serves));
    control.prove(
        name,
        format!("process {old} ended by itself after SIGTERM, and process {new} serves in its place"),
    );
    Ok(true)
}
