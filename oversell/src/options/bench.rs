//! The options of a measurement.

use std::path::PathBuf;

use clap::{Args, Subcommand};

use super::target::StackOptions;
use crate::values::between;

/// A measurement.
#[derive(Args)]
pub struct BenchOptions {
    #[command(subcommand)]
    pub what: What,
}

/// The measurements.
#[derive(Subcommand)]
pub enum What {
    /// How fast and how fairly locks change hands, and what that costs
    Lock(MeasureOptions),
    /// How locks bear more waiters, more instances and more items
    Scale(MeasureOptions),
    /// What a sale costs through nginx and straight at an instance, beside a no-op that goes the same way
    ///
    /// Each repeat takes four seconds for each strategy, two of them for the no-op. All strategies that claim to survive a
    /// crowd at two instances take about half an hour.
    Path(PathOptions),
}

/// Which strategies to measure.
#[derive(Args)]
pub struct PathOptions {
    /// Only these strategies, such as lua@redis or *@sql (may be repeated, or separated by commas) [default: all that claim
    /// to survive crowd and second-instance]
    #[arg(long, value_name = "NAME", value_delimiter = ',')]
    pub strategy: Vec<String>,
    #[command(flatten)]
    pub measure: MeasureOptions,
}

/// How to measure.
#[derive(Args)]
pub struct MeasureOptions {
    /// How often each figure is measured, one lock after the other; the median counts
    #[arg(long, value_name = "N", default_value_t = 5, allow_negative_numbers = true, value_parser = between::<u32>(1..=100))]
    pub repeat: u32,
    /// Write the results into a folder of their own, below this one
    #[arg(long, value_name = "DIR", default_value = "results/bench")]
    pub results: PathBuf,
    /// Print no progress on stderr
    #[arg(long, short)]
    pub quiet: bool,
    #[command(flatten)]
    pub stack: StackOptions,
}
