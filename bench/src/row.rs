//! One line of a result: what was tried, the medians, and the runs they are of.

use std::fs;
use std::path::{Path, PathBuf};

use anyhow::{Context, Result};
use loadtest::result::environment::Environment;
use serde::Serialize;

/// One thing that was measured: its parameters, the median of each figure, and the figures of each run.
#[derive(Debug, Serialize)]
pub struct Row<P, F> {
    /// What was tried.
    #[serde(flatten)]
    pub parameters: P,
    /// The median of each figure.
    #[serde(flatten)]
    pub medians: F,
    /// The figures of each run, in the order of the runs.
    pub runs: Vec<F>,
}

/// A whole result.
#[derive(Debug, Serialize)]
pub struct Measured<'a, P, F> {
    /// The command that measured it.
    pub command: String,
    /// On what it was measured.
    pub environment: &'a Environment,
    /// One for each thing that was measured.
    pub rows: Vec<Row<P, F>>,
}

/// The middle one; of an even number the mean of the two in the middle. Nothing has no middle.
pub fn median(figures: impl IntoIterator<Item = f64>) -> Option<f64> {
    let mut sorted: Vec<f64> = figures.into_iter().collect();
    sorted.sort_by(f64::total_cmp);
    let middle = sorted.len().checked_sub(1)? / 2;
    let upper = sorted.len() / 2;
    Some(f64::midpoint(sorted[middle], sorted[upper]))
}

/// Writes `name`.json into `folder`, which is made.
///
/// # Errors
/// When it cannot be written.
pub fn write<P: Serialize, F: Serialize>(measured: &Measured<P, F>, folder: &Path, name: &str) -> Result<PathBuf> {
    fs::create_dir_all(folder).with_context(|| format!("{} cannot be made", folder.display()))?;
    let path = folder.join(name).with_extension("json");
    let text = serde_json::to_string_pretty(measured)? + "\n";
    fs::write(&path, text).with_context(|| format!("{} cannot be written", path.display()))?;
    Ok(path)
}

#[cfg(test)]
mod tests {
    use super::median;

    #[test]
    fn a_median_is_the_middle_one_and_of_two_their_mean() {
        assert_eq!(median([]), None);
        assert_eq!(median([3.0]), Some(3.0));
        assert_eq!(median([9.0, 1.0, 4.0]), Some(4.0));
        assert_eq!(median([4.0, 1.0, 9.0, 2.0]), Some(3.0));
    }
}
