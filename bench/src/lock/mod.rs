//! `oversell bench lock`: locks, side by side, each contended for by 32 tasks.
//!
//! - `situation`: how hard, how far from Redis, and how long
//! - [`contenders`]: the locks, one file each in one list
//! - [`mod@alternating`]: the runs, one lock after the other
//! - [`contention`]: one run (`critical_section`: what is watched in it; [`commands`]: what Redis is sent meanwhile; [`way`]: how
//!   Redis is reached; [`leftovers`]: what is left there)
//! - `seen`, `figures`, `table`: what a run shows, what it comes to, how it is printed

pub mod alternating;
pub mod commands;
pub mod contenders;
pub mod contention;
mod critical_section;
mod figures;
pub mod leftovers;
mod seen;
mod situation;
mod table;
pub mod way;

use anyhow::Result;

use self::alternating::alternate;
pub use self::figures::Figures;
pub use self::seen::{Seen, TaskSeen};
pub use self::situation::Parameters;
use self::situation::Situated;
pub use self::table::{Tried, table};
use crate::row::Row;
use crate::setting::Setting;

/// Measures every lock in every situation.
///
/// # Errors
/// When Redis does not answer.
pub async fn measure(setting: &Setting) -> Result<Vec<Row<Parameters, Figures>>> {
    let contenders = contenders::present(setting, contenders::all()).await;
    alternate(setting, &contenders, &Situated::all()).await
}
