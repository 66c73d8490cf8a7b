//! The proxy asks the next instance whatever happened at the one before: an instance sells, its answers are lost on the way to
//! the proxy, and the purchases are sent to the other one, with the same idempotency keys.

use std::time::Duration;

use anyhow::{Context, Result};
use async_trait::async_trait;
use tokio::time::{sleep, timeout};

use super::Threat;
use crate::attack::{AttackControl, Injection};
use crate::audit::ExplainedUnknowns;
use crate::deployment::requirement::Requirement;
use crate::shop::catalogue::Strategy;

/// For how long the answers of one instance are lost, from the first one that is.
const LASTS: Duration = Duration::from_millis(100);

/// How long the first one is waited for.
const FIRST_WITHIN: Duration = Duration::from_secs(2);

/// Between two looks.
const LOOK_EVERY: Duration = Duration::from_millis(5);

pub(super) struct RetryingProxy;

impl Threat for RetryingProxy {
    fn name(&self) -> &'static str {
        "retrying-proxy"
    }

    fn title(&self, _instances: usize) -> String {
        "proxy retries".to_owned()
    }

    fn mostly_waits(&self) -> bool {
        true
    }

    fn needs(&self, _: &Strategy) -> Vec<Requirement> {
        vec![Requirement::RetryingProxy]
    }

    fn injection(&self) -> Option<&dyn Injection> {
        Some(self)
    }
}

#[async_trait]
impl Injection for RetryingProxy {
    /// Of who was told busy by the next instance before, and by nobody after.
    fn explains(&self) -> ExplainedUnknowns {
        ExplainedUnknowns::Ignorance
    }

    async fn act(&self, control: &AttackControl<'_>) -> Result<bool> {
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
}
