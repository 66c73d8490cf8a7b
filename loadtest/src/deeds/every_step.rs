//! What the threats have in common that meet a purchase at every step that its strategy can take, and at its business time. For
//! each of these moments two items are sold: on both a purchase is held up, and on one of them somebody else buys meanwhile.

use std::time::Duration;

use anyhow::{Context, Result};
use futures_util::future::try_join_all;
use tokio::time::sleep;

use crate::attack::{Delivery, Scene, Sending};
use crate::catalogue::Strategy;
use crate::deeds::take_over;
use crate::load::Load;

/// The most steps that are met: each of them is two sales.
const MOST_STEPS: usize = 16;

/// Purchases of an item when all is well again: so many that a proxy sends some of them to every instance.
const AFTERWARDS: usize = 15;

/// The purchases of each item in the first wave, one in each row.
const ROWS: usize = 4;

/// Those that are held up, in the first row.
const HELD_UP: usize = 0;

/// Those of somebody else on the same item, in the second row: while it is held up, or on the other half of the items when all
/// are answered who were.
const OTHERS: usize = 1;

/// Those who come together with these to the other half, in the third row. The last row is let loose before.
const LATER: usize = 2;

/// When all are held up that are sent at one moment.
const HELD_UP_AFTER: Duration = Duration::from_millis(200);

/// How much longer those work that are held up by nothing else: by then the instance has seen which of its connections are gone,
/// and lends them others.
const LAST_OF_ALL: Duration = Duration::from_millis(100);

/// At which instance purchases are held up; others come to the next one.
const INSTANCE: usize = 0;

/// Two items for each moment. The first wave cannot sell all of one, and the second wants more than is left.
pub(crate) fn load(asked: Load, strategy: &Strategy) -> Load {
    let items = 2 * moments(strategy).count();
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

/// For how long a purchase may be held up so that no lock ends but with what is done to its store. Where a session holds the lock
/// there is no lease to outlive, and more time for others to come meanwhile.
pub(crate) fn below_a_lease(strategy: &Strategy) -> Duration {
    match strategy.family() {
        "session-lock" => Duration::from_millis(1_500),
        _ => Duration::from_millis(700),
    }
}

/// Sends a purchase to each item that is held up for so long at one of the moments, makes `trouble` when all of them are,
/// and waits for both; then others come for what these may have left locked. What came of the trouble.
///
/// # Errors
/// When the deed has not named the places, and those of the trouble.
pub(crate) async fn meets<T>(
    scene: &Scene<'_>,
    for_so_long: Duration,
    trouble: impl Future<Output = Result<T>>,
) -> Result<T> {
    let sale = &scene.attack.sale;
    let moments = moments(&sale.strategy).cycle();
    let sent = (0..sale.load.items).zip(moments).map(async |(item, moment)| {
        let mut sending = match moment {
            Moment::Before(step) => Sending::with_fault(&format!("delay={}@{step}", for_so_long.as_millis())),
            Moment::AtWork => Sending {
                work: Some(for_so_long + LAST_OF_ALL),
                ..Sending::default()
            },
        };
        sending.delivery = Delivery::At(INSTANCE);
        scene.send(place(scene, HELD_UP, item)?, sending).await
    });
    let trouble = async {
        sleep(HELD_UP_AFTER).await;
        trouble.await
    };
    let (came, _) = tokio::try_join!(trouble, try_join_all(sent))?;
    let left = (0..sale.load.items / 2).map(async |item| {
        let places = [place(scene, OTHERS, item)?, place(scene, LATER, item)?];
        take_over::by_several(scene, &places, Delivery::At(INSTANCE + 1)).await
    });
    try_join_all(left).await?;
    Ok(came)
}

/// Sends a purchase that works for so long to the second item of each moment, at another instance, and waits for the answers.
///
/// # Errors
/// When the deed has not named the places.
pub(crate) async fn others(scene: &Scene<'_>, work: Duration) -> Result<()> {
    let items = scene.attack.sale.load.items;
    let sent = (items / 2..items).map(async |item| {
        let sending = Sending {
            delivery: Delivery::At(INSTANCE + 1),
            work: Some(work),
            ..Sending::default()
        };
        scene.send(place(scene, OTHERS, item)?, sending).await
    });
    try_join_all(sent).await?;
    Ok(())
}

/// The purchase of that row that is for this item.
fn place(scene: &Scene<'_>, row: usize, item: usize) -> Result<usize> {
    let sale = &scene.attack.sale;
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
