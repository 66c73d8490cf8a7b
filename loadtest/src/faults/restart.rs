//! A store is killed and started again, or replaced, in the middle of a sale. One purchase is at work then, and holds
//! its lock if it has one.

use std::time::{Duration, Instant};

use anyhow::{Context, Result, ensure};
use stack::{Service, ServiceKind};
use tokio::time::sleep;

use super::hold;
use crate::attack::{AttackControl, Proof, SendOptions};
use crate::http::BACK_WITHIN;
use crate::trace::IncidentKind;

/// The business time of that purchase: well below a lease, so that its lock does not expire by itself.
const WORK: Duration = Duration::from_millis(600);

const AT_WORK_AFTER: Duration = Duration::from_millis(150);

/// The time for which connections lie idle before their store goes. The shop that is started here tests a connection
/// that lay idle this long. Without that test its dead connections would stop all sales when the store is back.
pub(crate) const IDLE_FOR: Duration = Duration::from_millis(1_100);

/// Kills Redis after some sales and starts it again. Returns whether there were any sales before.
pub(crate) async fn restart_redis(control: &AttackControl<'_>, kind: IncidentKind) -> Result<bool> {
    let has_begun = play_first_wave(control).await;
    let killed = act_during_purchase(control, |stores| {
        let killed = Instant::now();
        let proofs = restart_service(stores, ServiceKind::Redis)?;
        Ok((killed, Instant::now(), proofs))
    });
    let (killed, back, proofs) = killed.await?;
    control.keep_proofs(proofs);
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

/// Sends one purchase that works for long, and applies `act` to the stores meanwhile. Others buy afterwards. Returns
/// the result of `act`.
pub(crate) async fn act_during_purchase<T: Send + 'static>(
    control: &AttackControl<'_>,
    act: impl FnOnce(&stack::Stores) -> Result<T> + Send + 'static,
) -> Result<T> {
    act_during_purchase_of(control, WORK, act).await
}

/// Does the same with a purchase that works for that long.
pub(crate) async fn act_during_purchase_of<T: Send + 'static>(
    control: &AttackControl<'_>,
    work: Duration,
    act: impl FnOnce(&stack::Stores) -> Result<T> + Send + 'static,
) -> Result<T> {
    let mut outcome = None;
    let at_work = SendOptions {
        work: Some(work),
        ..SendOptions::default()
    };
    let action = async {
        sleep(AT_WORK_AFTER).await;
        outcome = Some(on_stores(control, act).await);
    };
    hold::with_competitors(control, at_work, action).await?;
    outcome.context("the purchase ended before anything was done to the stores")?
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

/// Kills every process of the service, starts all of them again and returns when all are ready, with the proofs.
pub(crate) fn restart_service(stores: &stack::Stores, kind: ServiceKind) -> Result<Vec<Proof>> {
    let processes = stores.processes(kind);
    ensure!(!processes.is_empty(), "{kind} was not started here");
    let killed: Vec<u32> = processes.iter().map(Service::pid).collect();
    for process in processes {
        process.kill()?;
    }
    // All first: the last process of an ensemble does not serve before most others run.
    for process in processes {
        process.restart()?;
    }
    for process in processes {
        process.wait_ready(BACK_WITHIN)?;
    }
    let all = (1..).zip(processes).zip(killed);
    let proofs = all.map(|((nth, process), killed)| {
        let again = format!(
            "process {killed} was killed, and process {} serves in its place",
            process.pid()
        );
        Proof::new(kind.process(nth, processes.len()), again)
    });
    Ok(proofs.collect())
}
