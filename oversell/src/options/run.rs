//! The options of a run.

use std::net::SocketAddr;
use std::path::PathBuf;

use clap::Args;
use loadtest::threats;

use super::target::{RemoteOptions, StackOptions};
use crate::values::{between, work_ms};

/// The help of `--threat`, with every name: there are too many names to remember.
fn threat_help() -> String {
    format!(
        "Only these threats, such as crowd or *-holder (may be repeated, or separated by commas): {}. `oversell threats NAME` \
         explains one",
        threats::names().join(", ")
    )
}

/// The options of a run.
#[derive(Args)]
pub struct RunOptions {
    /// Every strategy on every store, under every threat; without it one strategy of each family, under five
    #[arg(long, conflicts_with = "strategy")]
    pub all: bool,
    /// Only these strategies, such as none@redis or *@sql (may be repeated, or separated by commas)
    #[arg(long, value_name = "NAME", value_delimiter = ',')]
    pub strategy: Vec<String>,
    #[arg(long, value_name = "NAME", value_delimiter = ',', help = threat_help())]
    pub threat: Vec<String>,
    /// Instance counts to try (separated by commas) [default: 1,2, with --all 1,2,3; with --host as many as listen at --admin]
    #[arg(long, value_name = "N", value_delimiter = ',', allow_negative_numbers = true, value_parser = between::<u8>(1..=16))]
    pub instances: Vec<u8>,
    /// Buyers at once [default: 32, or as many as --requests if they are fewer]
    #[arg(long, value_name = "N", allow_negative_numbers = true, value_parser = between::<u64>(1..=loadtest::sale::MAX_BUYERS as u64))]
    pub buyers: Option<u64>,
    /// Purchases in each round
    #[arg(long, value_name = "N", default_value_t = 96, allow_negative_numbers = true, value_parser = between::<u64>(1..=loadtest::sale::MAX_REQUESTS as u64))]
    pub requests: u64,
    /// Items that are sold at once in each round; the purchases are spread over them
    #[arg(long, value_name = "N", default_value_t = 1, allow_negative_numbers = true, value_parser = between::<u64>(1..=loadtest::sale::MAX_ITEMS as u64))]
    pub items: u64,
    /// Units for sale of each item in each round
    #[arg(long, value_name = "UNITS", default_value_t = 48, allow_negative_numbers = true, value_parser = between::<i64>(1..=1_000_000_000))]
    pub stock: i64,
    /// Units of each purchase
    #[arg(long, value_name = "UNITS", default_value_t = 1, allow_negative_numbers = true, value_parser = between::<u32>(1..=1_000))]
    pub quantity: u32,
    /// Business time between read and write, in ms, on average: the race window
    #[arg(long, value_name = "MS", default_value_t = 1, allow_negative_numbers = true, value_parser = work_ms)]
    pub work_ms: u64,
    /// Play each round so often. A trial without a claim ends when it has failed twice; one whose strategy says that it fails is
    /// repeated until it does, five times at most, or twenty if it fails now and then [default: 5, with --all 2]
    #[arg(long, value_name = "N", allow_negative_numbers = true, value_parser = between::<u32>(1..=100))]
    pub repeat: Option<u32>,
    /// Draw rounds at random until they send so many purchases. Only strategies take part that claim to survive a crowd, a
    /// second instance and a paused holder, each under the threats that it claims to survive
    #[arg(
        long,
        value_name = "PURCHASES",
        allow_negative_numbers = true,
        value_parser = between::<u64>(1..=loadtest::plan::soak::MAX_PURCHASES),
        conflicts_with_all = ["all", "buyers", "requests", "items", "stock", "quantity", "repeat"]
    )]
    pub soak: Option<u64>,
    /// Draw the rounds of a soak from this number: the same number draws the same rounds [default: a random one, which is
    /// printed]
    #[arg(long, value_name = "N", requires = "soak", allow_negative_numbers = true, value_parser = between::<u32>(0..=u32::MAX))]
    pub seed: Option<u32>,
    /// Let so many workers send the load of every crowd: each is an `oversell run --load-only`, on a machine of its own. The
    /// faults stay here
    #[arg(long, value_name = "N", allow_negative_numbers = true, value_parser = between::<u64>(1..=100))]
    pub workers: Option<u64>,
    /// Listen for the workers at this address
    #[arg(
        long,
        value_name = "ADDRESS",
        env = "OVERSELL_WORKERS_LISTEN",
        default_value = "127.0.0.1:9191"
    )]
    pub workers_listen: SocketAddr,
    /// The bearer token of the workers, which no shop may know: 16 to 256 letters, digits and - . _ [default: a random one, which is
    /// printed]
    #[arg(long, value_name = "TOKEN", env = "OVERSELL_WORKERS_TOKEN", hide_env_values = true)]
    pub workers_token: Option<String>,
    /// Be a worker of the run that listens at this base URL
    #[arg(long, value_name = "URL", requires = "workers_token", conflicts_with_all = ["all", "strategy", "threat", "soak", "workers", "host"])]
    pub load_only: Option<String>,
    /// Exit with 0 although trials were skipped, if all others are as designed. The result still names them
    #[arg(long)]
    pub allow_skipped: bool,
    /// Write the results into a folder of their own, below this one
    #[arg(long, value_name = "DIR", default_value = "results")]
    pub results: PathBuf,
    /// Print the result as JSON
    #[arg(long, conflicts_with = "verbose")]
    pub json: bool,
    /// Print every trial, as in files and pipes
    #[arg(long)]
    pub verbose: bool,
    /// Print no progress on stderr
    #[arg(long, short)]
    pub quiet: bool,
    #[command(flatten)]
    pub remote: RemoteOptions,
    #[command(flatten)]
    pub stack: StackOptions,
}
