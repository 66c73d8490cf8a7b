//! `oversell bench lock`: locks, side by side.

mod figures;

use anyhow::Result;

pub use self::figures::{Figures, Parameters};
use crate::row::Row;
use crate::setting::Setting;

/// Measures every lock in every situation.
///
/// # Errors
/// When Redis does not answer.
pub async fn measure(_setting: &Setting) -> Result<Vec<Row<Parameters, Figures>>> {
    Ok(Vec::new())
}

/// The medians, for a terminal.
pub fn table(_rows: &[Row<Parameters, Figures>]) -> String {
    String::new()
}
