//! The options of `bench` in a build without the benchmarks.

use clap::Args;

/// Points to the build that knows the options.
pub const HELP: &str = "This build has no benchmarks; type `cargo run --release --features bench -- bench --help`";

/// All options, unread.
#[derive(Args)]
pub struct BenchOptions {
    #[arg(trailing_var_arg = true, allow_hyphen_values = true, hide = true)]
    _unread: Vec<String>,
}
