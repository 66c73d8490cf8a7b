//! The setting of a benchmark.

use loadtest::deployment::Local;

/// Reports progress: the number of finished runs, the number of all runs, a line for the present group, and the present
/// run.
pub type ReportProgress = dyn Fn(usize, usize, &str, &str) + Send + Sync;

/// The servers of a benchmark, its repeats, and where it reports.
pub struct Setting {
    /// The stores, and the instances that can be started.
    pub local: Local,
    /// The number of runs behind each median, at least one.
    pub repeat: u32,
    /// Called before each run.
    pub progress: Box<ReportProgress>,
    /// Called with one line for each part that is left out, with the reason.
    pub report: Box<dyn Fn(&str) + Send + Sync>,
}
