//! The reconciler is killed (SIGKILL of its instance, by itself) in the middle of its work. An instance dies in the middle
//! of a purchase and leaves it half done. The other instance finds it and dies just before the first step by which it
//! would end it. Both start again, and everything is ended. Then the same happens before the second step, and so on,
//! until an instance takes no further step. The round counts only if a reconciler was killed: its process ended after
//! the purchase broke off, while no purchase was sent to its instance.

use std::sync::Arc;
use std::thread;
use std::time::{Duration, Instant};

use anyhow::{Context, Result};
use stack::{Service, Shop};

use super::Threat;
use crate::attack::{AttackControl, Delivery, Injection, SendOptions};
use crate::audit::ExplainedUnknowns;
use crate::deployment::ShopParts;
use crate::deployment::requirement::Requirement;
use crate::faults::{restart, worker};
use crate::shop::pending::SETTLES_WITHIN;
use crate::shop::response::{Response, ResponseKind};
use crate::trace::IncidentKind;

/// The purchase that is left half done, and its instance.
const FATAL: usize = 0;
const LEAVING: usize = 0;

/// The most steps before which a reconciler is killed.
const MOST_STEPS: u32 = 12;

/// The longest wait for a process that kills itself in the middle of a purchase.
const DIES_WITHIN: Duration = Duration::from_secs(2);

/// The longest wait for a reconciler that finds the purchase: a lease and its own pause, several times.
const FOUND_WITHIN: Duration = Duration::from_secs(5);

/// The pause between two looks at a process.
const LOOK_EVERY: Duration = Duration::from_millis(10);

pub(super) const THREAT: Threat = Threat {
    name: "reconciler-killed",
    title: "reconciler is killed",
    mostly_waits: true,
    is_about: |strategy| !strategy.worker_steps.is_empty(),
    load: worker::load,
    requires: |_| vec![Requirement::Instances],
    injection: Some(Injection {
        places: |_| vec![FATAL],
        explains: ExplainedUnknowns::FromDeadInstance,
        ..Injection::new(|control| Box::pin(inject(control)))
    }),
    source: include_str!("reconciler_killed.rs"),
    ..Threat::PLAIN
};

async fn inject(control: &AttackControl<'_>) -> Result<bool> {
    let has_begun = restart::play_first_wave(control).await;
    let local = control.shop.parts().context("the shop was not started here")?;
    let mut killed = 0;
    for nth in 1..=MOST_STEPS {
        // The steps of this purchase are counted, so no other one may be half done, and both instances have to live.
        end_everything(control, local).await?;
        // A shop without such a fault lets the round prove nothing.
        if !worker::arm(control, "crash", nth).await? || !leave_half_done(control, &local.shop).await? {
            break;
        }
        let reconciling = instance(&local.shop, worker::INSTANCE)?;
        let (left_at, process) = (Instant::now(), reconciling.pid());
        if !has_ended_within(&local.shop, worker::INSTANCE, FOUND_WITHIN).await {
            break;
        }
        killed += 1;
        let after_ms = left_at.elapsed().as_millis();
        let proof = format!(
            "process {process} ended before step {nth} of its reconciler, {after_ms} ms after the purchase was left"
        );
        control.prove(reconciling.name(), proof);
        control.note(IncidentKind::Killed, reconciling.name(), Instant::now(), None);
    }
    worker::disarm(control).await?;
    end_everything(control, local).await?;
    Ok(has_begun && killed > 0)
}

/// Lets the other instance kill itself in the middle of a purchase. Returns whether it did.
async fn leave_half_done(control: &AttackControl<'_>, shop: &Arc<Shop>) -> Result<bool> {
    let leaving = instance(shop, LEAVING)?;
    let process = leaving.pid();
    let options = SendOptions {
        delivery: Delivery::At(LEAVING),
        ..SendOptions::with_fault(&format!("crash@{}", control.attack.sale.strategy.weak_at))
    };
    let has_died = async |response: Response| {
        response.kind == ResponseKind::Unknown && has_ended_within(shop, LEAVING, DIES_WITHIN).await
    };
    let has_died = control.provoke(FATAL, options, has_died).await?;
    if has_died {
        let proof = format!(
            "process {process} ended before step {} of a purchase",
            control.attack.sale.strategy.weak_at
        );
        control.prove(leaving.name(), proof);
        control.note(IncidentKind::Killed, leaving.name(), Instant::now(), None);
    }
    Ok(has_died)
}

/// Starts both instances again and waits until no purchase is half done.
async fn end_everything(control: &AttackControl<'_>, local: &ShopParts) -> Result<()> {
    let shop = local.shop.clone();
    tokio::task::spawn_blocking(move || shop.revive()).await??;
    let sales = &control.attack.sale.sales;
    let items: Vec<&str> = sales.iter().map(|sale| sale.item.as_str()).collect();
    for pending in control.shop.pending(&items).await {
        pending.settled(Instant::now() + SETTLES_WITHIN).await;
    }
    Ok(())
}

fn instance(shop: &Shop, place: usize) -> Result<&Service> {
    shop.instances().get(place).context("a shop with one instance")
}

/// Returns whether the process of that instance ends within the limit.
async fn has_ended_within(shop: &Arc<Shop>, place: usize, limit: Duration) -> bool {
    let shop = Arc::clone(shop);
    // A look into a container blocks.
    let looking = tokio::task::spawn_blocking(move || {
        let Some(process) = shop.instances().get(place) else {
            return false;
        };
        let until = Instant::now() + limit;
        while !process.has_exited() {
            if Instant::now() >= until {
                return false;
            }
            thread::sleep(LOOK_EVERY);
        }
        true
    });
    looking.await.unwrap_or(false)
}
