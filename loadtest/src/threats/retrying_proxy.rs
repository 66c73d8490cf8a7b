//! The proxy asks the next instance whatever happened at the one before: an instance sells, its answers are lost on the way to
//! the proxy, and the purchases are sent to the other one, with the same idempotency keys.

use std::time::Duration;

use anyhow::{Context, Result};
use tokio::time::{sleep, timeout};

use super::Threat;
use crate::attack::{AttackControl, Injection};
use crate::audit::ExplainedUnknowns;
use crate::deployment::requirement::Requirement;

/// For how long the answers of one instance are lost, from the first one that is.
const LASTS: Duration = Duration::from_millis(100);

/// How long the first one is waited for.
const FIRST_WITHIN: Duration = Duration::from_secs(2);

/// Between two looks.
const LOOK_EVERY: Duration = Duration::from_millis(5);

pub(super) const THREAT: Threat = Threat {
    name: "retrying-proxy",
    title: "proxy retries",
    mostly_waits: true,
    load: |asked, _| asked.two_waves(),
    requires: |_| vec![Requirement::RetryingProxy],
    injection: Some(Injection {
        explains: ExplainedUnknowns::All,
        ..Injection::new(|control| Box::pin(inject(control)))
    }),
    source: include_str!("retrying_proxy.rs"),
    ..Threat::PLAIN
};

async fn inject(control: &AttackControl<'_>) -> Result<bool> {
    let local_processes = control.shop.local_processes().context("the shop is not ours")?;
    let first = local_processes
        .shop
        .relays_before()
        .first()
        .context("the proxy is none that retries")?;
    first.lose_replies();
    control.begin();
    let one_is_lost = async {
        while first.affected() == 0 {
            sleep(LOOK_EVERY).await;
        }
    };
    let is_lost = timeout(FIRST_WITHIN, one_is_lost).await.is_ok();
    sleep(LASTS).await;
    first.pass();
    Ok(is_lost)
}
