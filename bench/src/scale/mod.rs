//! `oversell bench scale`: how locks bear more waiters, more instances and more items, close to Redis and without a pause.

mod size;

use anyhow::Result;

pub use self::size::Parameters;
use self::size::Size;
use crate::lock::alternating::alternate;
use crate::lock::{Figures, contenders};
use crate::row::Row;
use crate::setting::Setting;

/// The locks that are worth the time: one of each way to wait, and the ceiling.
const LOCKS: [&str; 5] = ["no-lock", "token", "watchdog", "baton K=1", "baton K=8"];

/// Measures each lock in each size.
///
/// # Errors
/// When Redis does not answer.
pub async fn measure(setting: &Setting) -> Result<Vec<Row<Parameters, Figures>>> {
    let mut contenders = contenders::all();
    contenders.retain(|contender| LOCKS.contains(&contender.name()));
    let contenders = contenders::present(setting, contenders).await;
    alternate(setting, &contenders, &Size::all()).await
}
