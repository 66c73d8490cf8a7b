//! A fault that strikes a background worker of an instance in the middle of its work.

use anyhow::{Context, Result};
use reqwest::{Method, RequestBuilder, StatusCode};
use serde_json::json;

use crate::attack::AttackControl;
use crate::sale::Load;
use crate::shop::catalogue::Strategy;

/// The instance whose worker is struck.
pub(crate) const INSTANCE: usize = 1;

/// Returns a load whose first wave has room for some purchases more than usual, and cannot sell everything even so.
pub(crate) fn load(asked: Load, _: &Strategy) -> Load {
    let two_waves = asked.two_waves();
    Load {
        requests: two_waves.buyers * 3,
        stock: (two_waves.buyers * 2) as i64 * i64::from(asked.quantity),
        ..two_waves
    }
}

/// Lets the fault strike before the `nth` step that a worker of that instance takes for an item from now on. Returns
/// whether the instance accepts that: some shops have no such fault.
///
/// # Errors
/// When the instance does not answer.
pub(crate) async fn arm(control: &AttackControl<'_>, fault: &str, nth: u32) -> Result<bool> {
    let fault = json!({ "fault": fault, "worker_step": nth });
    let response = faults(control, Method::POST)?.json(&fault).send().await?;
    Ok(response.status() == StatusCode::ACCEPTED)
}

/// Withdraws a fault that has not struck. An instance that does not answer has died, and its fault with it.
pub(crate) async fn disarm(control: &AttackControl<'_>) -> Result<()> {
    let _ = faults(control, Method::DELETE)?.send().await;
    Ok(())
}

fn faults(control: &AttackControl<'_>, method: Method) -> Result<RequestBuilder> {
    let local = control.shop.parts().context("the shop was not started here")?;
    let admins = local.shop.admins();
    let admin = admins.get(INSTANCE).context("a shop with one instance")?;
    let client = &control.attack.sale.client;
    Ok(client.operator(method, &format!("{admin}/faults")))
}
