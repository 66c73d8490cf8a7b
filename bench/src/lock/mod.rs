//! `oversell bench lock`: compares locks. 32 tasks contend for each.
//!
//! - `situation`: how hard the tasks contend, how far they are from Redis, and how long
//! - [`contender`]: a lock that can be measured; [`contenders`]: the locks, one file each in one list
//! - [`mod@alternating`]: the runs, one lock after the other
//! - [`contention`]: one run, with tasks of this process on a [`lock_kind`]; `critical_section` watches that each is
//!   alone, [`commands`] counts the commands that Redis receives, [`redis_route`] leads to Redis, [`leftovers`] cleans
//!   up
//! - `sample`, `figures`, `table`: the observations of a run, their figures, and the printed table

pub mod alternating;
pub mod commands;
pub mod contender;
pub mod contenders;
pub mod contention;
mod critical_section;
mod figures;
pub mod leftovers;
pub mod lock_kind;
pub mod redis_route;
mod sample;
mod situation;
mod table;

use anyhow::Result;

use self::alternating::alternate;
pub use self::figures::Figures;
pub use self::sample::{Sample, TaskSample};
use self::situation::LockSituation;
pub use self::situation::Parameters;
pub use self::table::{LockRow, table};
use crate::row::Row;
use crate::setting::Setting;

/// Measures every lock in every situation.
///
/// # Errors
/// When Redis does not answer.
pub async fn measure(setting: &Setting) -> Result<Vec<Row<Parameters, Figures>>> {
    let contenders = contenders::available(setting, contenders::all()).await;
    alternate(setting, &contenders, &LockSituation::all()).await
}
