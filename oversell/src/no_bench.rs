//! `oversell bench` in a build without the benchmarks.

use anyhow::Result;

use crate::command_line;
use crate::exit::Usage;
use crate::options::BenchOptions;

/// Names the command that builds the benchmarks and runs them.
pub fn bench(_options: BenchOptions) -> Result<u8> {
    let command = command_line::shown().replacen("oversell", "cargo run --release --features bench --", 1);
    Err(Usage(format!("this build has no benchmarks; type `{command}`")).into())
}
