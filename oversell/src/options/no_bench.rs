//! The options of `bench` in a build without the benchmarks.

use clap::Args;

/// All options, unread.
#[derive(Args)]
pub struct BenchOptions {
    #[arg(trailing_var_arg = true, allow_hyphen_values = true, hide = true)]
    _unread: Vec<String>,
}
