//! A store is killed and started again, or replaced, in the middle of a sale. One purchase is at work then, and holds
//! its lock if it has one.

use std::time::{Duration, Instant};

use anyhow::{Context, Result};
use stack::{ServerKind, Service};

use super::moment;
use crate::attack::AttackControl;
use crate::http::BACK_WITHIN;
use crate::trace::IncidentKind;

/// The time for which connections lie idle before their store goes. The shop that is started here tests a connection
/// that lay idle this long. Without that test its dead connections would stop all sales when the store is back.
pub(crate) const IDLE_FOR: Duration = Duration::from_millis(1_100);

/// Kills Redis after some sales and starts it again. Returns whether there were any sales before.
pub(crate) async fn restart_redis(control: &AttackControl<'_>, kind: IncidentKind) -> Result<bool> {
    let has_begun = play_first_wave(control).await;
    let killed = act_during_purchase(control, |stores| {
        let killed = Instant::now();
        restart_store(stores, ServerKind::Redis)?;
        Ok([killed, Instant::now()])
    });
    let [killed, back] = killed.await?;
    control.note(kind, "Redis", killed, Some(back));
    Ok(has_begun)
}

/// Releases the buyers and waits until all of them have their responses, so that none competes with a later purchase
/// for a lock. Returns whether anything was sold.
pub(crate) async fn play_first_wave(control: &AttackControl<'_>) -> bool {
    let has_begun = control.release_until_sales(1).await;
    control.release_until_sales(usize::MAX).await;
    has_begun
}

/// Sends one purchase that holds its lock for long, and applies `act` to the stores meanwhile, in the phase of the
/// round. Others buy afterwards. Returns the result of `act`.
pub(crate) async fn act_during_purchase<T: Send + 'static>(
    control: &AttackControl<'_>,
    act: impl FnOnce(&stack::Stores) -> Result<T> + Send + 'static,
) -> Result<T> {
    moment::lose_lock(control, on_stores(control, act)).await
}

/// Applies `act` to the stores on a blocking thread: it takes a while.
pub(crate) async fn on_stores<T: Send + 'static>(
    control: &AttackControl<'_>,
    act: impl FnOnce(&stack::Stores) -> Result<T> + Send + 'static,
) -> Result<T> {
    let stores = control
        .shop
        .local_processes()
        .context("the shop was not started here")?
        .stores
        .clone();
    tokio::task::spawn_blocking(move || act(&stores)).await?
}

/// Kills the store, starts it again and returns when it is ready.
pub(crate) fn restart_store(stores: &stack::Stores, kind: ServerKind) -> Result<()> {
    let store: Option<&Service> = match kind {
        ServerKind::Redis => stores.redis(),
        _ => stores.mariadb(),
    };
    let store = store.with_context(|| format!("{kind} was not started here"))?;
    store.kill()?;
    store.restart()?;
    store.wait_ready(BACK_WITHIN)
}
