//! A store is killed and started again in the middle of a sale, while one purchase is at work and holds its lock, if it has one.

use std::sync::Arc;
use std::time::Duration;

use anyhow::{Context, Result};
use stack::{ServerKind, Service};
use tokio::time::sleep;

use super::hold;
use crate::attack::{Scene, Sending};
use crate::shop::BACK_WITHIN;

/// How long the purchase works: well below a lease, so that no lock ends but with its store.
const WORK: Duration = Duration::from_millis(600);

/// When it is at work.
const AT_WORK_AFTER: Duration = Duration::from_millis(150);

/// Kills the store after some sales and starts it again. Whether there were any sales before.
pub(crate) async fn act(scene: &Scene<'_>, kind: ServerKind) -> Result<bool> {
    let stores = scene.shop.ours().context("the shop is not ours")?.stores.clone();
    let has_begun = scene.after_sales(1).await;
    // Until nobody is left with whom the purchase would have to compete for a lock.
    scene.after_sales(usize::MAX).await;
    let restarted = async {
        sleep(AT_WORK_AFTER).await;
        tokio::task::spawn_blocking(move || restart(&stores, kind)).await?
    };
    let at_work = Sending {
        work: Some(WORK),
        ..Sending::default()
    };
    let mut outcome = Ok(());
    hold::up(scene, at_work, async { outcome = restarted.await }).await?;
    outcome?;
    Ok(has_begun)
}

fn restart(stores: &Arc<stack::Stores>, kind: ServerKind) -> Result<()> {
    let store: Option<&Service> = match kind {
        ServerKind::Redis => stores.redis(),
        _ => stores.mariadb(),
    };
    let store = store.with_context(|| format!("its {kind} is not ours"))?;
    store.kill()?;
    store.restart()?;
    store.wait_ready(BACK_WITHIN)
}
