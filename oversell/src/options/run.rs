//! What to put on trial, and how.

use std::net::SocketAddr;
use std::path::PathBuf;

use clap::Args;

use super::shop::{ForeignOptions, StackOptions};
use crate::values::{between, work_ms};

/// What to put on trial, and how.
#[derive(Args)]
pub struct RunOptions {
    /// Every strategy on every store, under every threat; without it one strategy of each family, under five
    #[arg(long, conflicts_with = "strategy")]
    pub all: bool,
    /// Only these strategies, such as none@redis or *@sql (may be repeated, or separated by commas)
    #[arg(long, value_name = "NAME", value_delimiter = ',')]
    pub strategy: Vec<String>,
    /// Only these threats, such as crowd or *-holder (may be repeated, or separated by commas); `oversell threats` lists them
    #[arg(long, value_name = "NAME", value_delimiter = ',')]
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
    /// Business time between read and write, in ms: the race window
    #[arg(long, value_name = "MS", default_value_t = 1, allow_negative_numbers = true, value_parser = work_ms)]
    pub work_ms: u64,
    /// How often each round is played; what failed twice without a claim is not tried again, and what fails now and then is
    /// tried until it did, twenty times at most [default: 5, with --all 2]
    #[arg(long, value_name = "N", allow_negative_numbers = true, value_parser = between::<u32>(1..=100))]
    pub repeat: Option<u32>,
    /// Draw rounds at random, each of them what a strategy claims to survive, until they send so many purchases; only
    /// strategies take part that claim to survive a crowd, a second instance and a paused holder
    #[arg(
        long,
        value_name = "PURCHASES",
        allow_negative_numbers = true,
        value_parser = between::<u64>(1..=loadtest::plan::soak::MAX_PURCHASES),
        conflicts_with_all = ["all", "buyers", "requests", "items", "stock", "quantity", "repeat"]
    )]
    pub soak: Option<u64>,
    /// What a soak is drawn from: the same draws the same rounds [default: drawn itself, and said]
    #[arg(long, value_name = "N", requires = "soak", allow_negative_numbers = true, value_parser = between::<u32>(0..=u32::MAX))]
    pub seed: Option<u32>,
    /// Have so many others send the load of every crowd, each of them `oversell run --load-only` on a machine of its own; the
    /// faults stay here
    #[arg(long, value_name = "N", requires = "admin_token", allow_negative_numbers = true, value_parser = between::<u64>(1..=100))]
    pub workers: Option<u64>,
    /// Where they come to
    #[arg(
        long,
        value_name = "ADDRESS",
        env = "OVERSELL_WORKERS_LISTEN",
        default_value = "127.0.0.1:9191"
    )]
    pub workers_listen: SocketAddr,
    /// Send load for the run that listens for workers at this base URL, and nothing else
    #[arg(long, value_name = "URL", requires = "admin_token", conflicts_with_all = ["all", "strategy", "threat", "soak", "workers", "host"])]
    pub load_only: Option<String>,
    /// Where results are written, in a folder of their own
    #[arg(long, value_name = "DIR", default_value = "results")]
    pub results: PathBuf,
    /// Print the result as JSON
    #[arg(long, conflicts_with = "verbose")]
    pub json: bool,
    /// Print every trial, as files and pipes get it anyway
    #[arg(long)]
    pub verbose: bool,
    /// Say nothing on stderr while it goes on
    #[arg(long, short)]
    pub quiet: bool,
    #[command(flatten)]
    pub remote: ForeignOptions,
    #[command(flatten)]
    pub stack: StackOptions,
}
