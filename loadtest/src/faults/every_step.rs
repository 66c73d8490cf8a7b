//! Purchases are delayed just before every step of their strategy and in their business time. At each of these moments
//! a disturbance meets them.
//!
//! Several items are sold for each moment: on one of them other buyers come while a purchase is delayed, on the others
//! they come after its response. An instance has only so many connections, and a purchase that finds none reaches no
//! step: of each moment only one purchase is delayed at a time, and the moments of a long strategy come in batches.

use std::time::Duration;

use anyhow::{Context, Result};
use futures_util::future::try_join_all;
use tokio::time::sleep;

use crate::attack::{AttackControl, Delivery, SendOptions};
use crate::faults::successors;
use crate::sale::Load;
use crate::shop::catalogue::Strategy;

/// The most steps at which purchases are delayed, of those that a shop lists: each of them needs several sales.
const MOST_STEPS: usize = 32;

/// The most moments of a batch.
const AT_ONCE: usize = 17;

/// Moments of a strategy at which purchases are delayed together.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Batch {
    first: usize,
    count: usize,
}

/// One item for each moment of a batch.
#[derive(Clone, Copy)]
pub(crate) struct Items {
    batch: Batch,
    nth: usize,
}

impl Batch {
    /// Returns the `nth` item of each of its moments.
    pub(crate) fn nth(self, nth: usize) -> Items {
        Items { batch: self, nth }
    }
}

/// Returns all moments of the strategy in batches of about the same size.
pub(crate) fn batches(strategy: &Strategy) -> Vec<Batch> {
    let all = moments(strategy).count();
    let size = all.div_ceil(all.div_ceil(AT_ONCE));
    let firsts = (0..all).step_by(size);
    firsts
        .map(|first| Batch {
            first,
            count: size.min(all - first),
        })
        .collect()
}

/// Purchases of each item in the second wave: so many that a proxy sends some to every instance.
const SECOND_WAVE: usize = 15;

/// Rows of the first wave. Each row has one purchase of each item; the last row is sent before the fault.
const ROWS: usize = 4;

const DELAYED_ROW: usize = 0;

/// The row of the other buyers, who come while the first row is delayed or after its responses.
const OTHERS_ROW: usize = 1;

/// The row of the buyers who come together with the second row after the responses.
const SUCCESSORS_ROW: usize = 2;

/// The time after which all purchases that were sent together have reached their delay.
pub(crate) const ALL_DELAYED_AFTER: Duration = Duration::from_millis(300);

/// The extra time of purchases that are delayed in their business time. By then the instance has seen which of its
/// connections are gone, and lends others.
const EXTRA_WORK: Duration = Duration::from_millis(100);

/// The instance at which purchases are delayed; other buyers come to the next one.
const DELAYING_INSTANCE: usize = 0;

/// Returns a load with that many items for each moment. The first wave cannot sell all units of an item, and the second
/// wave wants more than is left.
pub(crate) fn load(asked: Load, strategy: &Strategy, items_per_moment: usize) -> Load {
    load_with(asked, strategy, items_per_moment, 0)
}

/// Returns the same load with so many further items, which come after those of the moments.
pub(crate) fn load_with(asked: Load, strategy: &Strategy, items_per_moment: usize, further: usize) -> Load {
    let items = items_per_moment * moments(strategy).count() + further;
    Load {
        buyers: items * ROWS,
        requests: items * (ROWS + SECOND_WAVE),
        stock: (ROWS + 1) as i64 * i64::from(asked.quantity),
        items,
        ..asked
    }
}

/// The rows that an injection sends.
pub(crate) const ROWS_OF_FAULT: usize = SUCCESSORS_ROW + 1;

pub(crate) fn places(load: &Load) -> Vec<usize> {
    (0..ROWS_OF_FAULT * load.items).collect()
}

/// A delay shorter than a lease, so that no lock ends but by the fault. It leaves time to make a connection on the way.
pub(crate) const SHORTER_THAN_A_LEASE: Duration = Duration::from_millis(500);

/// The longest delay of a purchase that has no lease to outlive: the shop lets no purchase work longer than five
/// seconds.
const MAX_DELAY: Duration = Duration::from_millis(4_800);

/// Returns a delay that lets other buyers come meanwhile. A lock of a session allows a longer delay, which grows with
/// how much the machine `lagged` before.
pub(crate) fn delay_for_others(strategy: &Strategy, lagged: Duration) -> Duration {
    match strategy.family() {
        "session-lock" => (4 * lagged).clamp(Duration::from_millis(1_500), MAX_DELAY),
        _ => SHORTER_THAN_A_LEASE,
    }
}

/// Delays a purchase of each of these items and causes `disturbance` when all of them are delayed: after
/// [`ALL_DELAYED_AFTER`], or after a quarter of the delay if that is more. Returns the result of the disturbance when
/// all responses have come.
pub(crate) async fn disturb_delayed<T>(
    control: &AttackControl<'_>,
    items: Items,
    delay: Duration,
    disturbance: impl Future<Output = Result<T>>,
) -> Result<T> {
    let disturbance = async {
        sleep(ALL_DELAYED_AFTER.max(delay / 4)).await;
        disturbance.await
    };
    let (result, ()) = tokio::try_join!(disturbance, delay_purchases(control, items, delay))?;
    Ok(result)
}

/// Sends a purchase of each of these items, with that delay at its moment, and waits for the responses.
pub(crate) async fn delay_purchases(control: &AttackControl<'_>, items: Items, delay: Duration) -> Result<()> {
    let sent = with_moments(control, items).map(async |(item, moment)| {
        let mut options = match moment {
            Moment::Before(step) => SendOptions::with_fault(&format!("delay={}@{step}", delay.as_millis())),
            Moment::AtWork => SendOptions {
                work: Some(delay + EXTRA_WORK),
                ..SendOptions::default()
            },
        };
        options.delivery = Delivery::At(DELAYING_INSTANCE);
        control.send(place(control, DELAYED_ROW, item)?, options).await
    });
    try_join_all(sent).await?;
    Ok(())
}

/// Sends other buyers for the same items, at another instance, with that business time, and waits for the responses.
pub(crate) async fn send_others(control: &AttackControl<'_>, items: Items, work: Duration) -> Result<()> {
    send_row(control, items, OTHERS_ROW, Some(work)).await
}

/// Sends buyers of these items who meet no delayed purchase, at another instance, and waits for the responses.
pub(crate) async fn send_more(control: &AttackControl<'_>, items: Items) -> Result<()> {
    send_row(control, items, SUCCESSORS_ROW, None).await
}

async fn send_row(control: &AttackControl<'_>, items: Items, row: usize, work: Option<Duration>) -> Result<()> {
    let sent = with_moments(control, items).map(async |(item, _)| {
        let options = SendOptions {
            delivery: Delivery::At(DELAYING_INSTANCE + 1),
            work,
            ..SendOptions::default()
        };
        control.send(place(control, row, item)?, options).await
    });
    try_join_all(sent).await?;
    Ok(())
}

/// Sends several buyers for locks that the delayed purchases may have left behind.
pub(crate) async fn send_successors(control: &AttackControl<'_>, items: Items) -> Result<()> {
    let sent = with_moments(control, items).map(async |(item, _)| {
        let places = [place(control, OTHERS_ROW, item)?, place(control, SUCCESSORS_ROW, item)?];
        successors::send_staggered(control, &places, Delivery::At(DELAYING_INSTANCE + 1)).await
    });
    try_join_all(sent).await?;
    Ok(())
}

/// Returns the place of each of these items, with its moment.
fn with_moments<'a>(control: &AttackControl<'a>, items: Items) -> impl Iterator<Item = (usize, Moment<'a>)> {
    let moments = moments(&control.attack.sale.strategy);
    let Items { batch, nth } = items;
    let first = nth * moments.clone().count();
    (first..).zip(moments).skip(batch.first).take(batch.count)
}

/// Returns the place of the purchase in that row for one of the further items, counted from the last one.
///
/// # Errors
/// When no purchase is for it.
pub(crate) fn place_from_last(control: &AttackControl<'_>, row: usize, nth: usize) -> Result<usize> {
    let items = control.attack.sale.load.items;
    place(
        control,
        row,
        items.checked_sub(nth + 1).context("there are fewer items")?,
    )
}

/// Returns the place of the purchase in that row for this item.
fn place(control: &AttackControl<'_>, row: usize, item: usize) -> Result<usize> {
    let sale = &control.attack.sale;
    let mut row = (row * sale.load.items..).take(sale.load.items);
    row.find(|place| sale.place_of(*place) == item)
        .context("no purchase in this row is for the item")
}

/// The moment at which a purchase is delayed.
#[derive(Clone, Copy)]
enum Moment<'a> {
    /// Just before this step.
    Before(&'a str),
    /// Between reading and writing, when it holds nothing but its lock.
    AtWork,
}

/// Returns the moments of a strategy. A purchase may pass several of the listed steps, or none.
fn moments(strategy: &Strategy) -> impl Iterator<Item = Moment<'_>> + Clone {
    let steps = strategy.steps.iter().take(MOST_STEPS);
    steps.map(|step| Moment::Before(step)).chain([Moment::AtWork])
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn with_steps(count: usize) -> Strategy {
        let steps: Vec<_> = (0..count).map(|_| "step").collect();
        let strategy = json!({ "name": "long@sql", "store": "sql", "claims": [], "steps": steps });
        serde_json::from_value(strategy).expect("it is an entry of a catalogue")
    }

    #[test]
    fn every_step_and_the_work_are_met_once_in_batches_that_an_instance_can_carry_out() {
        for (steps, moments, most) in [(0, 1, 1), (16, 17, 17), (19, 20, 10), (32, 33, 17), (400, 33, 17)] {
            let batches = batches(&with_steps(steps));
            let met: Vec<usize> = batches
                .iter()
                .flat_map(|batch| batch.first..batch.first + batch.count)
                .collect();
            assert_eq!(met, (0..moments).collect::<Vec<_>>(), "{steps} steps");
            let largest = batches.iter().map(|batch| batch.count).max();
            assert_eq!(largest, Some(most), "{steps} steps");
        }
    }
}
