//! A store loses power while a purchase is at work, right after another one was sold: the process is killed, and what it
//! wrote and did not sync is gone. `stack::Unsynced` says what that assumes.

use std::time::{Duration, Instant};

use anyhow::{Context, Result};
use stack::{Loss, Service, ServiceKind};
use tokio::time::sleep;

use super::{hold, restart, sql_database};
use crate::attack::{AttackControl, Proof, SendOptions};
use crate::sale::Load;
use crate::shop::response::ResponseKind;
use crate::trace::IncidentKind;

/// The place of the purchase that is sold right before: no other purchase uses it at that time.
const SOLD_LAST: usize = 1;

/// The longest wait for a store that syncs once in a second, on a busy machine.
const SYNCED_WITHIN: Duration = Duration::from_secs(5);
const CHECK_EVERY: Duration = Duration::from_millis(5);

/// When a store syncs what it has confirmed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Syncs {
    /// Before it confirms it.
    Before,
    /// Up to a second later.
    Later,
}

pub(crate) fn places(load: &Load) -> Vec<usize> {
    hold::places(load)
}

/// Starts the process of the service again, so that it keeps a journal of what it does not sync, and lets the shop notice that
/// its connections are gone.
pub(crate) async fn prepare(control: &AttackControl<'_>, kind: ServiceKind) -> Result<()> {
    restart::on_stores(control, move |stores| {
        let process = restart::process(stores, kind)?;
        process.restart_with_journal()?;
        process.wait_ready(restart::READY_WITHIN)
    })
    .await?;
    sleep(restart::IDLE_FOR).await;
    Ok(())
}

/// Lets the service lose power after some sales, and starts it again. Returns whether there were any sales before. The round
/// proves nothing unless the store synced as expected after the last of them had begun: nothing at all, or something.
pub(crate) async fn strike(control: &AttackControl<'_>, kind: ServiceKind, syncs: Syncs) -> Result<bool> {
    let has_begun = restart::play_first_wave(control).await;
    if kind == ServiceKind::Pg {
        // It syncs its tables minutes later by itself.
        sql_database::execute(sql_database::url(control, kind)?, kind, &["checkpoint"]).await?;
    }
    // A store that syncs once in a second has just done so: what comes next is not synced for most of a second.
    let length = restart::on_stores(control, move |stores| {
        wait_until_synced(restart::process(stores, kind)?)
    })
    .await?;
    let is_sold = |kind| async move { kind == ResponseKind::Sold };
    let sold = control
        .provoke(SOLD_LAST, SendOptions::default(), |response| is_sold(response.kind))
        .await?;
    let lost = restart::act_during_purchase(control, move |stores| {
        let (process, begun) = (restart::process(stores, kind)?, Instant::now());
        let killed = process.pid();
        let loss = process.lose_power()?;
        process.restart()?;
        process.wait_ready(restart::READY_WITHIN)?;
        Ok((begun, Instant::now(), loss, [killed, process.pid()]))
    });
    let (from, to, loss, processes) = lost.await?;
    // The shop tests connections that lay idle this long, and the next buyers find none that is dead.
    sleep(restart::IDLE_FOR).await;
    control.note(IncidentKind::PowerLost, &kind.to_string(), from, Some(to));
    let has_synced = !loss.is_all_since(length);
    control.keep_proofs([proof(kind, has_synced, &loss, processes)]);
    match syncs {
        Syncs::Before if !has_synced => control.mistime("the store had not synced the last sale when it lost power"),
        Syncs::Later if has_synced => control.mistime("the store had synced the last sale when it lost power"),
        // PostgreSQL does not even write before it syncs.
        Syncs::Later if loss.bytes == 0 && kind != ServiceKind::Pg => control.mistime("the store had nothing to lose"),
        Syncs::Before | Syncs::Later => {}
    }
    Ok(has_begun && sold)
}

/// Lets the stores check their own tables: damage by the loss would look like a fault of the shop.
///
/// # Errors
///
/// `Damaged` when a table is damaged: the round is then played in another testbed.
pub(crate) async fn check_tables(control: &AttackControl<'_>) -> Result<()> {
    match control.attack.sale.sales.first() {
        Some(sale) => sale.reader.check().await,
        None => Ok(()),
    }
}

fn proof(kind: ServiceKind, has_synced: bool, loss: &Loss, [killed, back]: [u32; 2]) -> Proof {
    let Loss {
        writes, bytes, files, ..
    } = loss;
    let last = if has_synced {
        "it synced after the last sale had begun"
    } else {
        "it synced nothing after the last sale had begun"
    };
    let text = format!(
        "process {killed} was killed, and what it had not synced was undone (bytes: {bytes}, writes: {writes}, files: \
         {files}); {last}; process {back} serves in its place"
    );
    Proof::new(kind.name(), text)
}

/// Waits until nothing is left to sync, and returns the length of the journal then. A store that is still not there after some
/// seconds is taken as it is: the loss says what was synced.
fn wait_until_synced(process: &Service) -> Result<u64> {
    let unsynced = process.unsynced().context("no journal can be kept on this system")?;
    let begun = Instant::now();
    loop {
        let length = unsynced.length()?;
        if unsynced.is_synced()? || begun.elapsed() >= SYNCED_WITHIN {
            return Ok(length);
        }
        std::thread::sleep(CHECK_EVERY);
    }
}
