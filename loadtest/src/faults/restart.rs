//! A store is killed and started again, or replaced, in the middle of a sale, while one purchase is at work and holds its lock,
//! if it has one.

use std::time::{Duration, Instant};

use anyhow::{Context, Result};
use stack::{ServerKind, Service};
use tokio::time::sleep;

use super::hold;
use crate::attack::{AttackControl, SendOptions};
use crate::http::BACK_WITHIN;
use crate::trace::IncidentKind;

/// How long the purchase works: well below a lease, so that no lock ends but with its store.
const WORK: Duration = Duration::from_millis(600);

/// When it is at work.
const AT_WORK_AFTER: Duration = Duration::from_millis(150);

/// How long connections to a store are to lie unused before it goes: our own shop asks those that did whether they still live,
/// and with one that does not nobody could buy as soon as it is back.
pub(crate) const UNUSED_FOR: Duration = Duration::from_millis(1_100);

/// Kills Redis after some sales and starts it again. Whether there were any sales before.
pub(crate) async fn redis(control: &AttackControl<'_>, kind: IncidentKind) -> Result<bool> {
    let has_begun = sales_begun(control).await;
    let killed = while_at_work(control, |stores| {
        let killed = Instant::now();
        restart(stores, ServerKind::Redis)?;
        Ok([killed, Instant::now()])
    });
    let [killed, back] = killed.await?;
    control.note(kind, "Redis", killed, Some(back));
    Ok(has_begun)
}

/// Waits for some sales, and until nobody is left with whom a purchase would have to compete for a lock. Whether there were any.
pub(crate) async fn sales_begun(control: &AttackControl<'_>) -> bool {
    let has_begun = control.after_sales(1).await;
    control.after_sales(usize::MAX).await;
    has_begun
}

/// Sends one purchase that works for long, and does this to the stores meanwhile; what came of that. Others buy afterwards.
pub(crate) async fn while_at_work<T: Send + 'static>(
    control: &AttackControl<'_>,
    act: impl FnOnce(&stack::Stores) -> Result<T> + Send + 'static,
) -> Result<T> {
    let mut outcome = None;
    let at_work = SendOptions {
        work: Some(WORK),
        ..SendOptions::default()
    };
    let acted = async {
        sleep(AT_WORK_AFTER).await;
        outcome = Some(on_stores(control, act).await);
    };
    hold::up(control, at_work, acted).await?;
    outcome.context("nothing was done to the stores")?
}

/// Does this to the stores, which takes a while.
pub(crate) async fn on_stores<T: Send + 'static>(
    control: &AttackControl<'_>,
    act: impl FnOnce(&stack::Stores) -> Result<T> + Send + 'static,
) -> Result<T> {
    let stores = control
        .shop
        .local_processes()
        .context("the shop is not ours")?
        .stores
        .clone();
    tokio::task::spawn_blocking(move || act(&stores)).await?
}

/// Kills the store and comes back when it is there again.
pub(crate) fn restart(stores: &stack::Stores, kind: ServerKind) -> Result<()> {
    let store: Option<&Service> = match kind {
        ServerKind::Redis => stores.redis(),
        _ => stores.mariadb(),
    };
    let store = store.with_context(|| format!("its {kind} is not ours"))?;
    store.kill()?;
    store.restart()?;
    store.wait_ready(BACK_WITHIN)
}
