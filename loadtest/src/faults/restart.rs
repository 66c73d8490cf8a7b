//! A store is killed and started again, or replaced, in the middle of a sale. One purchase is at work then, and holds
//! its lock if it has one.

use std::time::{Duration, Instant};

use anyhow::{Context, Result, ensure};
use stack::{Service, ServiceKind};

use super::moment;
use crate::attack::{AttackControl, Proof};
use crate::trace::IncidentKind;

/// The time for which connections lie idle before their store goes. The shop that is started here tests a connection
/// that lay idle this long. Without that test its dead connections would stop all sales when the store is back.
pub(crate) const IDLE_FOR: Duration = Duration::from_millis(1_100);

/// The longest time until a server that was started again is ready. On a busy machine an ensemble elects its leader more
/// than once until then.
pub(crate) const READY_WITHIN: Duration = Duration::from_secs(60);

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

/// Sends one purchase that holds its lock for long, and applies `act` to the stores meanwhile, in the phase of the
/// round. Others buy afterwards. Returns the result of `act`.
pub(crate) async fn act_during_purchase<T: Send + 'static>(
    control: &AttackControl<'_>,
    act: impl FnOnce(&stack::Stores) -> Result<T> + Send + 'static,
) -> Result<T> {
    moment::lose_lock(control, moment::UNTIL_WRITE, on_stores(control, act)).await
}

/// Returns the first process of a service.
///
/// # Errors
/// When it was not started here.
pub(crate) fn process(stores: &stack::Stores, kind: ServiceKind) -> Result<&Service> {
    let first = stores.processes(kind).first();
    first.with_context(|| format!("{kind} was not started here"))
}

/// Applies `act` to the stores on a blocking thread: it takes a while.
pub(crate) async fn on_stores<T: Send + 'static>(
    control: &AttackControl<'_>,
    act: impl FnOnce(&stack::Stores) -> Result<T> + Send + 'static,
) -> Result<T> {
    let stores = control
        .shop
        .parts()
        .context("the shop was not started here")?
        .stores
        .clone();
    tokio::task::spawn_blocking(move || act(&stores)).await?
}

/// Kills every process of the service, starts all of them again and returns when all are ready, with the proofs.
pub(crate) fn restart_service(stores: &stack::Stores, kind: ServiceKind) -> Result<Vec<Proof>> {
    let processes = stores.processes(kind);
    ensure!(!processes.is_empty(), "{kind} was not started here");
    let named = (1..).zip(processes);
    let named = named.map(|(nth, process)| (kind.process(nth, processes.len()), process));
    kill_and_start(&named.collect::<Vec<_>>())
}

/// Kills these processes, starts them again and returns when all are ready, with the proofs.
pub(crate) fn kill_and_start(processes: &[(String, &Service)]) -> Result<Vec<Proof>> {
    let killed = kill(processes)?;
    start(processes, &killed)
}

/// Kills these processes, and returns their numbers.
pub(crate) fn kill(processes: &[(String, &Service)]) -> Result<Vec<u32>> {
    let killed = processes.iter().map(|(_, process)| {
        let number = process.pid();
        process.kill()?;
        Ok(number)
    });
    killed.collect()
}

/// Starts these processes again, which had those numbers, and returns when all are ready, with the proofs.
pub(crate) fn start(processes: &[(String, &Service)], killed: &[u32]) -> Result<Vec<Proof>> {
    // All first: the last process of an ensemble does not serve before most others run.
    for (_, process) in processes {
        process.restart()?;
    }
    for (_, process) in processes {
        process.wait_ready(READY_WITHIN)?;
    }
    let proofs = processes.iter().zip(killed).map(|((name, process), killed)| {
        let serves = process.pid();
        Proof::new(
            name,
            format!("process {killed} was killed, and process {serves} serves in its place"),
        )
    });
    Ok(proofs.collect())
}
