//! The command line.

#[cfg(feature = "bench")]
mod bench;
mod choose;
#[cfg(not(feature = "bench"))]
mod no_bench;
mod results;
mod run;
mod serve;
mod shop;

use clap::{Parser, Subcommand};

#[cfg(feature = "bench")]
pub use bench::{BenchOptions, MeasureOptions, What};
pub use choose::ChooseOptions;
#[cfg(not(feature = "bench"))]
pub use no_bench::BenchOptions;
pub use results::{CompareOptions, CompletionsOptions, ReportOptions, StrategiesOptions, ThreatsOptions};
pub use run::RunOptions;
pub use serve::{HealthOptions, ServeOptions};
pub use shop::{ClientOptions, DemoOptions, ForeignOptions, StackOptions, UpOptions};

use crate::exit;

/// Shows how a flash sale sells more than it has: sells by every strategy, on real servers, and judges.
#[derive(Parser)]
#[command(name = "oversell", version, after_help = exit::HELP, args_conflicts_with_subcommands = true)]
pub struct Options {
    #[command(subcommand)]
    command: Option<Command>,
    #[command(flatten)]
    run: RunOptions,
}

/// What to do.
#[derive(Subcommand)]
pub enum Command {
    /// Put strategies on trial and print who oversells (what no command means)
    Run(Box<RunOptions>),
    /// Show step by step how one unit is sold to two buyers, and what prevents it
    Demo(DemoOptions),
    /// Start the shop and leave it up until Ctrl-C
    Up(UpOptions),
    /// Send a command to the Redis of the shop that is up, or read commands from stdin
    Redis(ClientOptions),
    /// Send a statement to the MariaDB of the shop that is up, or read statements from stdin
    Sql(ClientOptions),
    /// Run one instance of the shop
    Serve(ServeOptions),
    /// Ask an instance whether it can sell: 0 yes, 69 no
    Health(HealthOptions),
    /// Print a saved result again
    Report(ReportOptions),
    /// Say which verdicts changed from one saved result to another, and what became dearer: 0 none changed, 1 some
    Compare(CompareOptions),
    /// Answer from a saved result which strategy to use, and what it costs: 0 at least one holds, 1 none
    Choose(ChooseOptions),
    /// Measure what locks and strategies cost, side by side
    #[cfg_attr(not(feature = "bench"), command(disable_help_flag = true))]
    #[cfg_attr(not(feature = "bench"), command(after_help = no_bench::HELP))]
    Bench(BenchOptions),
    /// List the strategies, or say how one of them works and what breaks it
    Strategies(StrategiesOptions),
    /// List the threats, or say what one of them does and who claims to survive it
    Threats(ThreatsOptions),
    /// Say what a run would use, what it would fetch, and what to do about what is missing
    Doctor(StackOptions),
    /// Print what a shell needs to complete this command line
    Completions(CompletionsOptions),
}

impl Options {
    /// Reads the command line. Help and version end the program with 0, a mistake with 64.
    pub fn parse_or_exit() -> Self {
        Self::try_parse().unwrap_or_else(|error| {
            let _ = error.print();
            std::process::exit(if error.use_stderr() { exit::USAGE.into() } else { 0 })
        })
    }

    /// The command, `run` when none is given.
    pub fn command(self) -> Command {
        self.command.unwrap_or(Command::Run(Box::new(self.run)))
    }
}
