//! The disk of every store of the strategy is full for a while: no file becomes longer. Redis, which keeps an append-only file there
//! (`appendfsync everysec`), refuses every write from the first on that does not reach the file, and a release is one.
//! MariaDB and PostgreSQL refuse an order that needs another page; what was free in their tables is taken by other rows, which
//! are never committed. MariaDB may also end itself, where a rollback finds no room, and is started again when there is room.
//! `stack::Disk` says how a disk becomes full.
//! This begins when a purchase is about to take each of the steps of its strategy. The first time it lasts for longer than a lease;
//! the second time it is over soon, while the purchase goes on. Others buy meanwhile. The round counts only if writes failed each time.

use std::time::{Duration, Instant};

use anyhow::Result;
use stack::ServiceKind;

use super::Threat;
use crate::attack::{AttackControl, Injection};
use crate::audit::ExplainedUnknowns;
use crate::faults::full_disk::{self, FullDisks};
use crate::faults::{every_step, restart};
use crate::trace::IncidentKind;

/// Two items for each moment: others buy the first one after all responses, and the second one while purchases are
/// still refused.
const BOUGHT_AFTER: usize = 0;
const BOUGHT_MEANWHILE: usize = 1;

/// The delay of each purchase: below a lease, so that the purchase goes on while the disk is full. It leaves time to take what room
/// there was.
const DELAY: Duration = Duration::from_millis(700);

/// Longer than the rest of the delay, and than a lease after it.
const FULL_FOR: Duration = Duration::from_millis(1_500);

/// The delayed purchases go on meanwhile, and have not answered yet.
const BRIEFLY_FULL_FOR: Duration = Duration::from_millis(500);

/// The business time of the other buyers.
const WORK: Duration = Duration::from_millis(100);

pub(super) const THREAT: Threat = Threat {
    name: "disk-full",
    title: "disk is full",
    mostly_waits: true,
    is_about: |strategy| !full_disk::stores(strategy).is_empty(),
    load: |asked, strategy| every_step::load(asked, strategy, 2),
    requires: full_disk::requirements,
    injection: Some(Injection {
        places: every_step::places,
        explains: ExplainedUnknowns::All,
        ..Injection::new(|control| Box::pin(inject(control)))
    }),
    source: include_str!("disk_full.rs"),
    ..Threat::PLAIN
};

async fn inject(control: &AttackControl<'_>) -> Result<bool> {
    let has_redis = full_disk::stores(&control.attack.sale.strategy).contains(&ServiceKind::Redis);
    if has_redis {
        restart::on_stores(control, |stores| stores.keep_redis_on_disk(true)).await?;
        restart::on_stores(control, stack::Stores::sync_redis_every_second).await?;
    }
    full_disk::compact(control).await?;
    let mut has_struck = restart::play_first_wave(control).await;
    for batch in every_step::batches(&control.attack.sale.strategy) {
        let items = batch.nth(BOUGHT_AFTER);
        let full = full_for(
            control,
            FULL_FOR,
            every_step::send_more(control, batch.nth(BOUGHT_MEANWHILE)),
        );
        has_struck &= every_step::disturb_delayed(control, items, DELAY, full).await?;
        every_step::send_successors(control, items).await?;
        let items = batch.nth(BOUGHT_MEANWHILE);
        let full = full_for(control, BRIEFLY_FULL_FOR, every_step::send_others(control, items, WORK));
        has_struck &= every_step::disturb_delayed(control, items, DELAY, full).await?;
    }
    if has_redis {
        restart::on_stores(control, |stores| stores.keep_redis_on_disk(false)).await?;
    }
    Ok(has_struck)
}

/// Lets the disk of every store be full for that long, while `others` buy. Returns whether a write failed.
async fn full_for(
    control: &AttackControl<'_>,
    time: Duration,
    others: impl Future<Output = Result<()>>,
) -> Result<bool> {
    let from = Instant::now();
    let mut disks = FullDisks::fill(control).await?;
    let names = disks.names();
    let room_again = async {
        disks.keep_full(time).await;
        let has_struck = disks.make_room(control).await?;
        control.note(IncidentKind::DiskFull, &names, from, Some(Instant::now()));
        Ok(has_struck)
    };
    let (has_struck, ()) = tokio::try_join!(room_again, others)?;
    Ok(has_struck)
}
