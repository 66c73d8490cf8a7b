//! What the threats have in common that meet a purchase at every step that its strategy can take, and at its business time. For
//! each of these moments several items are sold: one on which a purchase is held up while somebody else buys, and others on
//! which somebody comes when it is answered. An instance has only so many connections to lend: more than one purchase for each
//! moment may find none, and is then held up nowhere.

use std::time::Duration;

use anyhow::{Context, Result};
use futures_util::future::try_join_all;
use tokio::time::sleep;

use crate::attack::{AttackControl, Delivery, SendOptions};
use crate::faults::take_over;
use crate::sale::Load;
use crate::shop::catalogue::Strategy;

/// The most steps that are met: each of them is several sales.
const MOST_STEPS: usize = 16;

/// Purchases of an item when all is well again: so many that a proxy sends some of them to every instance.
const AFTERWARDS: usize = 15;

/// The purchases of each item in the first wave, one in each row.
const ROWS: usize = 4;

/// Those that are held up, in the first row.
const HELD_UP: usize = 0;

/// Those of somebody else on the same item, in the second row: while it is held up, or when it is answered.
const OTHERS: usize = 1;

/// Those who come together with these then, in the third row. The last row is let loose before.
const LATER: usize = 2;

/// When all are held up that are sent at one time, at the earliest.
pub(crate) const HELD_UP_AFTER: Duration = Duration::from_millis(300);

/// How much longer those work that are held up by nothing else: by then the instance has seen which of its connections are gone,
/// and lends them others.
const LAST_OF_ALL: Duration = Duration::from_millis(100);

/// At which instance purchases are held up; others come to the next one.
const INSTANCE: usize = 0;

/// So many items for each moment. The first wave cannot sell all of one, and the second wants more than is left.
pub(crate) fn load(asked: Load, strategy: &Strategy, of_each_moment: usize) -> Load {
    let items = of_each_moment * moments(strategy).count();
    Load {
        buyers: items * ROWS,
        requests: items * (ROWS + AFTERWARDS),
        stock: (ROWS + 1) as i64 * i64::from(asked.quantity),
        items,
        ..asked
    }
}

/// Which purchases the deed sends.
pub(crate) fn places(load: &Load) -> Vec<usize> {
    (0..(LATER + 1) * load.items).collect()
}

/// For how long a purchase may be held up so that no lock ends but with what is done to its store: with room for a connection
/// that is made on the way.
pub(crate) const BELOW_A_LEASE: Duration = Duration::from_millis(500);

/// The longest that a purchase is held up where it has no lease to outlive: the shop lets nobody work for longer than five seconds.
const LONGEST: Duration = Duration::from_millis(4_800);

/// For how long a purchase is held up so that others can come meanwhile. Where a session holds the lock that is long enough for a
/// machine on which all this `lagged` so much before.
pub(crate) fn for_others(strategy: &Strategy, lagged: Duration) -> Duration {
    match strategy.family() {
        "session-lock" => (4 * lagged).clamp(Duration::from_millis(1_500), LONGEST),
        _ => BELOW_A_LEASE,
    }
}

/// Sends a purchase to one item of each moment, and makes `trouble` when all of them are held up there: after [`HELD_UP_AFTER`], or
/// a quarter of the time if that is more. Waits for both. What came of the trouble.
///
/// # Errors
/// When the deed has not named the places, and those of the trouble.
pub(crate) async fn meets<T>(
    control: &AttackControl<'_>,
    nth: usize,
    for_so_long: Duration,
    trouble: impl Future<Output = Result<T>>,
) -> Result<T> {
    let trouble = async {
        sleep(HELD_UP_AFTER.max(for_so_long / 4)).await;
        trouble.await
    };
    let (came, ()) = tokio::try_join!(trouble, held_up(control, nth, for_so_long))?;
    Ok(came)
}

/// Sends a purchase to one item of each moment, which is held up there for so long, and waits for the answers.
///
/// # Errors
/// When the deed has not named the places.
pub(crate) async fn held_up(control: &AttackControl<'_>, nth: usize, for_so_long: Duration) -> Result<()> {
    let sent = items(control, nth).map(async |(item, moment)| {
        let mut options = match moment {
            Moment::Before(step) => SendOptions::with_fault(&format!("delay={}@{step}", for_so_long.as_millis())),
            Moment::AtWork => SendOptions {
                work: Some(for_so_long + LAST_OF_ALL),
                ..SendOptions::default()
            },
        };
        options.delivery = Delivery::At(INSTANCE);
        control.send(place(control, HELD_UP, item)?, options).await
    });
    try_join_all(sent).await?;
    Ok(())
}

/// Lets somebody else buy the same items, at another instance, who works for so long; waits for the answers.
///
/// # Errors
/// When the deed has not named the places.
pub(crate) async fn others(control: &AttackControl<'_>, nth: usize, work: Duration) -> Result<()> {
    let sent = items(control, nth).map(async |(item, _)| {
        let options = SendOptions {
            delivery: Delivery::At(INSTANCE + 1),
            work: Some(work),
            ..SendOptions::default()
        };
        control.send(place(control, OTHERS, item)?, options).await
    });
    try_join_all(sent).await?;
    Ok(())
}

/// Lets others come for what those who were held up may have left locked.
///
/// # Errors
/// When the deed has not named the places.
pub(crate) async fn taken_over(control: &AttackControl<'_>, nth: usize) -> Result<()> {
    let sent = items(control, nth).map(async |(item, _)| {
        let places = [place(control, OTHERS, item)?, place(control, LATER, item)?];
        take_over::by_several(control, &places, Delivery::At(INSTANCE + 1)).await
    });
    try_join_all(sent).await?;
    Ok(())
}

/// The `nth` item of each moment, and the moment.
fn items<'a>(control: &AttackControl<'a>, nth: usize) -> impl Iterator<Item = (usize, Moment<'a>)> {
    let strategy = &control.attack.sale.strategy;
    let moments = moments(strategy);
    (nth * moments.clone().count()..).zip(moments)
}

/// The purchase of that row that is for this item.
fn place(control: &AttackControl<'_>, row: usize, item: usize) -> Result<usize> {
    let sale = &control.attack.sale;
    let mut row = (row * sale.load.items..).take(sale.load.items);
    row.find(|place| sale.place_of(*place) == item)
        .context("nobody of this row wants the item")
}

/// When a purchase is held up.
#[derive(Clone, Copy)]
enum Moment<'a> {
    /// Just before this step.
    Before(&'a str),
    /// Between reading and writing, with nothing in its hands but its lock.
    AtWork,
}

/// One may be met on the way by several steps that are listed, another one by none.
fn moments(strategy: &Strategy) -> impl Iterator<Item = Moment<'_>> + Clone {
    let steps = strategy.steps.iter().take(MOST_STEPS);
    steps.map(|step| Moment::Before(step)).chain([Moment::AtWork])
}
