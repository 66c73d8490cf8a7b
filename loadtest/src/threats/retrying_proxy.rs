//! The proxy sends a purchase to the next instance after any failure at the one before. One instance sells, its
//! responses are lost on the way to the proxy, and the proxy sends the same purchases, with the same idempotency keys,
//! to the other instance. The round counts only if a response was lost.

use std::time::Duration;

use anyhow::{Context, Result};
use tokio::time::{sleep, timeout};

use super::Threat;
use crate::attack::{AttackControl, Injection};
use crate::audit::ExplainedUnknowns;
use crate::deployment::requirement::Requirement;

/// The time for which the responses of one instance are lost, from the first lost one on.
const LOST_FOR: Duration = Duration::from_millis(100);

/// The longest wait for the first lost response.
const FIRST_WITHIN: Duration = Duration::from_secs(2);

const CHECK_EVERY: Duration = Duration::from_millis(5);

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
    let parts = control.shop.parts().context("the shop was not started here")?;
    let first = parts.shop.relays_before().first().context("the proxy does not retry")?;
    first.lose_replies();
    control.release_buyers();
    let one_is_lost = async {
        while first.affected() == 0 {
            sleep(CHECK_EVERY).await;
        }
    };
    let is_lost = timeout(FIRST_WITHIN, one_is_lost).await.is_ok();
    sleep(LOST_FOR).await;
    if is_lost {
        let lost = first.affected();
        control.prove(
            "app-1",
            format!("{lost} messages of its responses were lost on the way to the proxy"),
        );
    }
    first.pass();
    Ok(is_lost)
}
