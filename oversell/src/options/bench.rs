//! The options of `bench`.

use std::path::PathBuf;

use clap::{Args, Subcommand};

use super::target::StackOptions;
use crate::values::between;

/// The benchmark to run.
#[derive(Args)]
pub struct BenchOptions {
    #[command(subcommand)]
    pub what: What,
}

/// The benchmarks.
#[derive(Subcommand)]
pub enum What {
    /// Measure how fast and how fairly locks change hands, and at what cost
    Lock(MeasureOptions),
    /// Compare locks as waiters, instances and items grow
    Scale(MeasureOptions),
    /// Measure what a sale costs through nginx and directly at an instance, beside a no-op on the same route
    ///
    /// Each repeat takes four seconds per strategy, two of them for the no-op. All strategies that claim to survive
    /// crowd and second-instance take about half an hour.
    Path(PathOptions),
}

/// Which strategies to measure.
#[derive(Args)]
pub struct PathOptions {
    /// Only these strategies, such as lua@redis or *@sql (may be repeated, or separated by commas) [default: all that
    /// claim to survive crowd and second-instance]
    #[arg(long, value_name = "NAME", value_delimiter = ',')]
    pub strategy: Vec<String>,
    #[command(flatten)]
    pub measure: MeasureOptions,
}

/// How to measure.
#[derive(Args)]
pub struct MeasureOptions {
    /// Number of runs behind each median
    #[arg(long, value_name = "N", default_value_t = 5, allow_negative_numbers = true, value_parser = between::<u32>(1..=100))]
    pub repeat: u32,
    /// Folder for results; each run makes its own folder in it
    #[arg(long, value_name = "DIR", default_value = "results/bench")]
    pub results: PathBuf,
    /// Print no progress on stderr
    #[arg(long, short)]
    pub quiet: bool,
    #[command(flatten)]
    pub stack: StackOptions,
}
