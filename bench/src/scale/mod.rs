//! `oversell bench scale`: compares locks as waiters, instances and items grow, close to Redis and without a pause.

mod size;

use anyhow::Result;

pub use self::size::Parameters;
use self::size::Size;
use crate::lock::alternating::alternate;
use crate::lock::{Figures, contenders};
use crate::row::Row;
use crate::setting::Setting;

/// The measured locks: one for each way to wait, and the upper bound.
const LOCKS: [&str; 5] = ["no-lock", "token", "watchdog", "baton K=1", "baton K=8"];

/// Measures each lock in each size.
///
/// # Errors
/// When Redis does not answer.
pub async fn measure(setting: &Setting) -> Result<Vec<Row<Parameters, Figures>>> {
    let mut contenders = contenders::all();
    contenders.retain(|contender| LOCKS.contains(&contender.name()));
    let contenders = contenders::available(setting, contenders).await;
    alternate(setting, &contenders, &Size::all()).await
}
