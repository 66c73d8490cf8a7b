//! Redis is at its `maxmemory` for a while and may evict nothing (`noeviction`): it refuses each command that needs
//! memory, such as SET, and carries out the others, such as DEL. This begins when a purchase is about to take each of
//! the steps of its strategy. The first time it lasts for longer than a lease; the second time it is over soon, while
//! the purchase goes on, and others buy meanwhile. The round counts only if Redis refused commands both times.

use std::thread;
use std::time::{Duration, Instant};

use anyhow::Result;
use stack::{AtLimit, MemoryLimit, ServiceKind, Stores};
use tokio::time::sleep;

use super::Threat;
use crate::attack::{AttackControl, Injection};
use crate::audit::ExplainedUnknowns;
use crate::faults::{every_step, eviction, restart};
use crate::text::counted;
use crate::trace::IncidentKind;

/// Two items for each moment: others buy the first one after all responses, and the second one while purchases are
/// still refused.
const BOUGHT_AFTER: usize = 0;
const BOUGHT_MEANWHILE: usize = 1;

/// The delay of each purchase: below a lease, so that the purchase goes on while Redis refuses.
const DELAY: Duration = Duration::from_millis(400);

/// Longer than the rest of the delay, and than a lease after it.
const FULL_FOR: Duration = Duration::from_millis(1_500);

/// The delayed purchases go on meanwhile, and have not answered yet.
const BRIEFLY_FULL_FOR: Duration = Duration::from_millis(250);

/// The longest wait for a refusal after that time, and the pause between two looks.
const REFUSED_WITHIN: Duration = Duration::from_secs(3);
const LOOK_EVERY: Duration = Duration::from_millis(5);

/// The business time of the other buyers.
const WORK: Duration = Duration::from_millis(100);

pub(super) const THREAT: Threat = Threat {
    name: "redis-full",
    title: "Redis refuses writes",
    mostly_waits: true,
    is_about: |strategy| !eviction::redis_services(strategy).is_empty(),
    load: |asked, strategy| every_step::load(asked, strategy, 2),
    requires: eviction::requirements,
    injection: Some(Injection {
        places: every_step::places,
        explains: ExplainedUnknowns::All,
        ..Injection::new(|control| Box::pin(inject(control)))
    }),
    source: include_str!("redis_full.rs"),
    ..Threat::PLAIN
};

async fn inject(control: &AttackControl<'_>) -> Result<bool> {
    let mut has_struck = restart::play_first_wave(control).await;
    for batch in every_step::batches(&control.attack.sale.strategy) {
        let items = batch.nth(BOUGHT_AFTER);
        let full = refuse_for(control, FULL_FOR, async { Ok(()) });
        has_struck &= every_step::disturb_delayed(control, items, DELAY, full).await?;
        every_step::send_successors(control, items).await?;
        let items = batch.nth(BOUGHT_MEANWHILE);
        let others = every_step::send_others(control, items, WORK);
        let full = refuse_for(control, BRIEFLY_FULL_FOR, others);
        has_struck &= every_step::disturb_delayed(control, items, DELAY, full).await?;
    }
    Ok(has_struck)
}

/// Lets every Redis of the strategy refuse for that long, while `others` buy. Returns whether one of them refused
/// anything.
async fn refuse_for(
    control: &AttackControl<'_>,
    time: Duration,
    others: impl Future<Output = Result<()>>,
) -> Result<bool> {
    let kinds = eviction::redis_services(&control.attack.sale.strategy);
    let from = Instant::now();
    let limits = restart::on_stores(control, move |stores| set_limits(stores, &kinds)).await?;
    let room_again = async {
        sleep(time).await;
        let refused = restart::on_stores(control, move |_| lift(limits)).await?;
        control.note(IncidentKind::OutOfMemory, "Redis", from, Some(Instant::now()));
        Ok(refused)
    };
    let (refused, ()) = tokio::try_join!(room_again, others)?;
    for (service, count) in refused.iter().filter(|(_, count)| *count > 0) {
        let commands = counted(*count as usize, ["command", "commands"]);
        control.prove(service, format!("{commands} refused for lack of memory"));
    }
    Ok(refused.iter().any(|(_, count)| *count > 0))
}

/// The limit of each process, by its name.
type Limits = Vec<(String, MemoryLimit)>;

fn set_limits(stores: &Stores, kinds: &[ServiceKind]) -> Result<Limits> {
    let processes = kinds.iter().flat_map(|kind| {
        let processes = stores.processes(*kind);
        let name = |nth| kind.process(nth, processes.len());
        (1..).map(name).zip(processes).collect::<Vec<_>>()
    });
    let limited = processes.map(|(name, process)| Ok((name, stores.limit_memory(process, AtLimit::Refuse)?)));
    limited.collect()
}

/// Ends the limits as soon as one process has refused something, and returns how many commands each of them refused. On
/// a busy machine the delayed purchases may come late.
fn lift(mut limits: Limits) -> Result<Vec<(String, u64)>> {
    let begun = Instant::now();
    loop {
        let refused = limits
            .iter_mut()
            .map(|(name, limit)| Ok((name.clone(), limit.refused()?)));
        let refused = refused.collect::<Result<Vec<_>>>()?;
        if refused.iter().any(|(_, count)| *count > 0) || begun.elapsed() >= REFUSED_WITHIN {
            return Ok(refused);
        }
        thread::sleep(LOOK_EVERY);
    }
}
