//! One row of a result: its parameters, the medians, and their runs.

use std::fs;
use std::path::{Path, PathBuf};

use anyhow::{Context, Result};
use loadtest::result::environment::Environment;
use serde::Serialize;

/// One row of a result.
#[derive(Debug, Serialize)]
pub struct Row<P, F> {
    /// The parameters of the row.
    #[serde(flatten)]
    pub parameters: P,
    /// The median of each figure.
    #[serde(flatten)]
    pub medians: F,
    /// The figures of each run, in the order of the runs.
    pub runs: Vec<F>,
}

/// A complete result.
#[derive(Debug, Serialize)]
pub struct Measured<'a, P, F> {
    /// The command line.
    pub command: String,
    /// The machine and the servers.
    pub environment: &'a Environment,
    /// The rows.
    pub rows: Vec<Row<P, F>>,
}

/// Returns the median: for an even count the mean of the two middle figures, and None without figures.
pub fn median(figures: impl IntoIterator<Item = f64>) -> Option<f64> {
    let mut sorted: Vec<f64> = figures.into_iter().collect();
    sorted.sort_by(f64::total_cmp);
    let middle = sorted.len().checked_sub(1)? / 2;
    let upper = sorted.len() / 2;
    Some(f64::midpoint(sorted[middle], sorted[upper]))
}

/// Creates `folder` and writes `name`.json into it.
///
/// # Errors
/// When the folder or the file cannot be written.
pub fn write<P: Serialize, F: Serialize>(measured: &Measured<P, F>, folder: &Path, name: &str) -> Result<PathBuf> {
    fs::create_dir_all(folder).with_context(|| format!("{} cannot be created", folder.display()))?;
    let path = folder.join(name).with_extension("json");
    let text = serde_json::to_string_pretty(measured)? + "\n";
    fs::write(&path, text).with_context(|| format!("{} cannot be written", path.display()))?;
    Ok(path)
}

#[cfg(test)]
mod tests {
    use super::median;

    #[test]
    fn a_median_is_the_middle_figure_or_the_mean_of_the_two_in_the_middle() {
        assert_eq!(median([]), None);
        assert_eq!(median([3.0]), Some(3.0));
        assert_eq!(median([9.0, 1.0, 4.0]), Some(4.0));
        assert_eq!(median([4.0, 1.0, 9.0, 2.0]), Some(3.0));
    }
}
