//! The command line.

#[cfg(feature = "bench")]
mod bench;
mod choose;
mod explore;
mod faults;
mod isolation;
mod journal;
mod lab;
#[cfg(not(feature = "bench"))]
mod no_bench;
mod race;
mod results;
mod run;
mod serve;
mod target;

use clap::{Parser, Subcommand};

#[cfg(feature = "bench")]
pub use bench::{BenchOptions, MeasureOptions, What};
pub use choose::ChooseOptions;
pub use explore::{ExploreOptions, Preemptions, ReplayOptions};
pub use faults::FaultsOptions;
pub use isolation::IsolationOptions;
pub use journal::JournalOptions;
pub use lab::{FOLDER, LabCommand, LabOptions};
#[cfg(not(feature = "bench"))]
pub use no_bench::BenchOptions;
pub use race::RaceOptions;
pub use results::{CompareOptions, CompletionsOptions, ReportOptions, StrategiesOptions, ThreatsOptions};
pub use run::RunOptions;
pub use serve::{HealthOptions, ServeOptions};
pub use target::{
    BuyOptions, CheckOptions, ClientOptions, CrowdOptions, DemoOptions, DoctorOptions, FaultServiceOptions,
    LiveOptions, OperatorOptions, PageOptions, RemoteOptions, StackOptions, StoreOptions, TlsOptions, UpOptions,
};

use crate::exit;

/// Shows how a flash sale sells more than it has: plays every strategy on real servers, and judges it.
#[derive(Parser)]
#[command(name = "oversell", version, after_help = exit::HELP, args_conflicts_with_subcommands = true)]
pub struct Options {
    #[command(subcommand)]
    command: Option<Command>,
    #[command(flatten)]
    run: RunOptions,
}

/// The commands.
#[derive(Subcommand)]
pub enum Command {
    /// Put strategies on trial and print which ones oversell (the default command)
    #[command(after_help = exit::HELP)]
    Run(Box<RunOptions>),
    /// Show step by step how one unit is sold to two buyers, and what prevents it
    #[command(after_help = exit::HELP)]
    Demo(DemoOptions),
    /// Play every interleaving of two purchases, step by step, and show the shortest that breaks a promise
    Explore(ExploreOptions),
    /// Play a schedule of `explore` again, and compare each step
    Replay(ReplayOptions),
    /// Play the anomalies of each isolation level of MariaDB and PostgreSQL, and six mechanisms at each level
    Isolation(IsolationOptions),
    /// Learn from labs, in the terminal: predict, run, and see what happened
    Lab(LabOptions),
    /// Start the shop and leave it up until Ctrl-C
    #[command(after_help = exit::HELP)]
    Up(UpOptions),
    /// Serve the live page: two strategies side by side, started in a browser and watched (`up` serves it as well)
    #[command(after_help = exit::HELP)]
    Page(LiveOptions),
    /// Buy one unit at the shop that is up, and print the answer
    #[command(after_help = exit::HELP)]
    Buy(BuyOptions),
    /// Open a sale at the shop that is up, send a crowd of buyers, and count their answers
    #[command(after_help = exit::HELP)]
    Crowd(CrowdOptions),
    /// Compare a running shop with the contract, point by point, and name the first one that it does not meet
    #[command(after_help = exit::HELP)]
    Check(CheckOptions),
    /// Put any shop on trial as it is: a file describes it, and its buyers are released at one moment
    Race(RaceOptions),
    /// Send a command to the Redis of the shop that is up, or read commands from stdin
    Redis(ClientOptions),
    /// Send a statement to the MariaDB of the shop that is up, or read statements from stdin
    Sql(ClientOptions),
    /// Run one instance of the shop
    #[command(after_help = exit::HELP)]
    Serve(ServeOptions),
    /// Stand beside the servers of a shop in containers, and strike them when a load test asks for it
    #[command(after_help = exit::HELP)]
    Faults(FaultsOptions),
    /// Keep a journal of what a server in a container does not sync, and undo that where the server loses power
    #[command(after_help = exit::HELP)]
    Journal(JournalOptions),
    /// Ask an instance whether it can sell: 0 yes, 69 no
    #[command(after_help = exit::HELP)]
    Health(HealthOptions),
    /// Print a saved result again
    Report(ReportOptions),
    /// Print which verdicts changed from one saved result to another, and what became dearer: 0 none changed, 1 some
    #[command(after_help = exit::HELP)]
    Compare(CompareOptions),
    /// Answer from a saved result which strategy to use, and what it costs: 0 at least one holds, 1 none
    Choose(ChooseOptions),
    /// Measure what locks and strategies cost, side by side
    #[cfg_attr(feature = "bench", command(after_help = exit::HELP))]
    #[cfg_attr(not(feature = "bench"), command(disable_help_flag = true))]
    #[cfg_attr(not(feature = "bench"), command(after_help = no_bench::HELP))]
    Bench(BenchOptions),
    /// List the strategies, or explain how one of them works and what breaks it
    Strategies(StrategiesOptions),
    /// List the threats, or explain one of them and list the strategies that claim to survive it
    Threats(ThreatsOptions),
    /// List the servers that a run would use or fetch, and how to install the missing ones
    #[command(after_help = exit::HELP)]
    Doctor(DoctorOptions),
    /// Print the completion script of a shell
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
