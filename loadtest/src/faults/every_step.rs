//! Purchases are delayed just before every step of their strategy and in their business time. At each of these moments
//! a disturbance meets them.
//!
//! Several items are sold for each moment: on one of them other buyers come while a purchase is delayed, on the others
//! they come after its response. Only one purchase at a time is delayed for each moment: an instance has only so many
//! connections, and a purchase that finds none reaches no step.

use std::time::Duration;

use anyhow::{Context, Result};
use futures_util::future::try_join_all;
use tokio::time::sleep;

use crate::attack::{AttackControl, Delivery, SendOptions};
use crate::faults::successors;
use crate::sale::Load;
use crate::shop::catalogue::Strategy;

/// The most steps at which purchases are delayed: each of them needs several sales.
const MOST_STEPS: usize = 16;

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
    let items = items_per_moment * moments(strategy).count();
    Load {
        buyers: items * ROWS,
        requests: items * (ROWS + SECOND_WAVE),
        stock: (ROWS + 1) as i64 * i64::from(asked.quantity),
        items,
        ..asked
    }
}

pub(crate) fn places(load: &Load) -> Vec<usize> {
    (0..(SUCCESSORS_ROW + 1) * load.items).collect()
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

/// Delays a purchase of one item at each moment and causes `disturbance` when all of them are delayed: after
/// [`ALL_DELAYED_AFTER`], or after a quarter of the delay if that is more. Returns the result of the disturbance when
/// all responses have come.
pub(crate) async fn disturb_delayed<T>(
    control: &AttackControl<'_>,
    nth: usize,
    delay: Duration,
    disturbance: impl Future<Output = Result<T>>,
) -> Result<T> {
    let disturbance = async {
        sleep(ALL_DELAYED_AFTER.max(delay / 4)).await;
        disturbance.await
    };
    let (result, ()) = tokio::try_join!(disturbance, delay_purchases(control, nth, delay))?;
    Ok(result)
}

/// Sends a purchase of one item at each moment, with that delay, and waits for the responses.
pub(crate) async fn delay_purchases(control: &AttackControl<'_>, nth: usize, delay: Duration) -> Result<()> {
    let sent = items(control, nth).map(async |(item, moment)| {
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
pub(crate) async fn send_others(control: &AttackControl<'_>, nth: usize, work: Duration) -> Result<()> {
    let sent = items(control, nth).map(async |(item, _)| {
        let options = SendOptions {
            delivery: Delivery::At(DELAYING_INSTANCE + 1),
            work: Some(work),
            ..SendOptions::default()
        };
        control.send(place(control, OTHERS_ROW, item)?, options).await
    });
    try_join_all(sent).await?;
    Ok(())
}

/// Sends several buyers for locks that the delayed purchases may have left behind.
pub(crate) async fn send_successors(control: &AttackControl<'_>, nth: usize) -> Result<()> {
    let sent = items(control, nth).map(async |(item, _)| {
        let places = [place(control, OTHERS_ROW, item)?, place(control, SUCCESSORS_ROW, item)?];
        successors::send_staggered(control, &places, Delivery::At(DELAYING_INSTANCE + 1)).await
    });
    try_join_all(sent).await?;
    Ok(())
}

/// Returns the `nth` item of each moment, with the moment.
fn items<'a>(control: &AttackControl<'a>, nth: usize) -> impl Iterator<Item = (usize, Moment<'a>)> {
    let strategy = &control.attack.sale.strategy;
    let moments = moments(strategy);
    (nth * moments.clone().count()..).zip(moments)
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
