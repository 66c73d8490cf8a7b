//! The command line.

use std::net::SocketAddr;
use std::path::PathBuf;

use clap::{Args, Parser, Subcommand};

use crate::exit;
use crate::values::{between, work_ms};

/// The longest wait for a turn. Together with the longest work it leaves an instance time to answer before the proxy
/// gives it up.
const LONGEST_WAIT_MS: u64 = 8_000;

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

/// What to put on trial, and how.
#[derive(Args)]
pub struct RunOptions {
    /// Every strategy on every store; without it one strategy of each family
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
    #[arg(long, value_name = "N", allow_negative_numbers = true, value_parser = between::<u64>(1..=loadtest::load::MAX_BUYERS as u64))]
    pub buyers: Option<u64>,
    /// Purchases in each round
    #[arg(long, value_name = "N", default_value_t = 96, allow_negative_numbers = true, value_parser = between::<u64>(1..=loadtest::load::MAX_REQUESTS as u64))]
    pub requests: u64,
    /// Units for sale in each round
    #[arg(long, value_name = "UNITS", default_value_t = 48, allow_negative_numbers = true, value_parser = between::<i64>(1..=1_000_000_000))]
    pub stock: i64,
    /// Units of each purchase
    #[arg(long, value_name = "UNITS", default_value_t = 1, allow_negative_numbers = true, value_parser = between::<u32>(1..=1_000))]
    pub quantity: u32,
    /// Business time between read and write, in ms: the race window
    #[arg(long, value_name = "MS", default_value_t = 1, allow_negative_numbers = true, value_parser = work_ms)]
    pub work_ms: u64,
    /// How often each round is played
    #[arg(long, value_name = "N", default_value_t = 5, allow_negative_numbers = true, value_parser = between::<u32>(1..=100))]
    pub repeat: u32,
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
    pub foreign: ForeignOptions,
    #[command(flatten)]
    pub stack: StackOptions,
}

/// A shop that is already running.
#[derive(Args)]
pub struct ForeignOptions {
    /// Base URL of a shop that is already running; nothing is started then
    #[arg(long, value_name = "URL", requires_all = ["admin", "redis", "sql", "admin_token"])]
    pub host: Option<String>,
    /// Base URL of its admin listener, once per instance; one name may stand for several
    #[arg(long, value_name = "URL", requires = "host")]
    pub admin: Vec<String>,
    /// The bearer token of its admin listener
    #[arg(long, value_name = "TOKEN", env = "OVERSELL_ADMIN_TOKEN", hide_env_values = true)]
    pub admin_token: Option<String>,
}

/// What the stack is made of.
#[derive(Args, Clone)]
pub struct StackOptions {
    /// A Redis that is already running
    #[arg(long, value_name = "URL", env = "OVERSELL_REDIS_URL", hide_env_values = true)]
    pub redis: Option<String>,
    /// A MariaDB that is already running
    #[arg(long, value_name = "URL", env = "OVERSELL_SQL_URL", hide_env_values = true)]
    pub sql: Option<String>,
    /// Never download a missing server, not even into the private cache
    #[arg(long)]
    pub no_fetch: bool,
}

/// What to leave up.
#[derive(Args)]
pub struct UpOptions {
    /// Instances behind nginx
    #[arg(long, value_name = "N", default_value_t = 2, allow_negative_numbers = true, value_parser = between::<u8>(1..=16))]
    pub instances: u8,
    /// Port of nginx on 127.0.0.1; 0, or none, takes a free one
    #[arg(long, value_name = "PORT")]
    pub port: Option<u16>,
    #[command(flatten)]
    pub stack: StackOptions,
}

/// One instance. Secrets come from the environment, where `ps` does not show them.
#[derive(Args)]
pub struct ServeOptions {
    /// Where buyers come to
    #[arg(
        long,
        value_name = "ADDRESS",
        env = "OVERSELL_LISTEN",
        default_value = "127.0.0.1:8080"
    )]
    pub listen: SocketAddr,
    /// Where the operator comes to; never put this behind a proxy
    #[arg(
        long,
        value_name = "ADDRESS",
        env = "OVERSELL_ADMIN_LISTEN",
        default_value = "127.0.0.1:9090"
    )]
    pub admin_listen: SocketAddr,
    /// The instance's name
    #[arg(long, value_name = "NAME", env = "OVERSELL_INSTANCE", default_value = "app-1")]
    pub instance: String,
    /// Redis
    #[arg(long, value_name = "URL", env = "OVERSELL_REDIS_URL", hide_env_values = true)]
    pub redis: String,
    /// MariaDB
    #[arg(long, value_name = "URL", env = "OVERSELL_SQL_URL", hide_env_values = true)]
    pub sql: String,
    /// Bearer token of the admin listener and of faults
    #[arg(long, value_name = "TOKEN", env = "OVERSELL_ADMIN_TOKEN", hide_env_values = true)]
    pub admin_token: String,
    /// Lab mode: buyers choose strategy, work time and (with the token) faults by header
    #[arg(long, env = "OVERSELL_LAB")]
    pub lab: bool,
    /// The strategy of a purchase that names none
    #[arg(long, value_name = "NAME", env = "OVERSELL_STRATEGY", default_value = "lua@redis")]
    pub strategy: String,
    /// The item of /deduct_stock
    #[arg(long, value_name = "NAME", env = "OVERSELL_ITEM", default_value = "sku-1")]
    pub item: String,
    /// Units the item is opened with, if no sale of it is open yet
    #[arg(long, value_name = "UNITS", env = "OVERSELL_STOCK", default_value_t = 100)]
    pub stock: u32,
    /// How long a buyer waits for the turn before being told busy
    #[arg(long, value_name = "MS", env = "OVERSELL_WAIT_MS", default_value_t = 1_500, allow_negative_numbers = true, value_parser = between::<u64>(1..=LONGEST_WAIT_MS))]
    pub wait_ms: u64,
    /// How long a lock outlives a holder that no longer renews it
    #[arg(long, value_name = "MS", env = "OVERSELL_LEASE_MS", default_value_t = 1_000, allow_negative_numbers = true, value_parser = between::<u64>(10..=600_000))]
    pub lease_ms: u64,
}

/// Which instance to ask.
#[derive(Args)]
pub struct HealthOptions {
    /// Its public listener
    #[arg(default_value = "127.0.0.1:8080")]
    pub address: SocketAddr,
}

/// Which results to compare.
#[derive(Args)]
pub struct CompareOptions {
    /// The older result.json, or the folder it is in
    pub before: PathBuf,
    /// The newer one
    pub after: PathBuf,
}

/// What to show.
#[derive(Args)]
pub struct DemoOptions {
    /// A strategy
    #[arg(default_value = "none@redis")]
    pub strategy: String,
    #[command(flatten)]
    pub stack: StackOptions,
}

/// What to ask a store.
#[derive(Args)]
pub struct ClientOptions {
    /// The store's URL [default: OVERSELL_REDIS_URL or OVERSELL_SQL_URL, else that of the one shop that is up]
    #[arg(long, value_name = "URL")]
    pub url: Option<String>,
    /// What to send
    #[arg(trailing_var_arg = true, allow_hyphen_values = true)]
    pub words: Vec<String>,
}

/// Which strategy to explain.
#[derive(Args)]
pub struct StrategiesOptions {
    /// A mechanism such as token, a strategy such as token@redis, or a pattern such as *lock
    pub name: Option<String>,
}

/// Which threat to explain.
#[derive(Args)]
pub struct ThreatsOptions {
    /// A threat such as crashed-holder, or a pattern
    pub name: Option<String>,
}

/// Which result to print, and how.
#[derive(Args)]
pub struct ReportOptions {
    /// A result.json, or the folder of a run, also of one that was killed
    pub result: PathBuf,
    /// Print the result as JSON
    #[arg(long, conflicts_with = "verbose")]
    pub json: bool,
    /// Print every trial, as files and pipes get it anyway
    #[arg(long)]
    pub verbose: bool,
    /// Tell how violations came about: the steps of those involved, side by side and in words
    #[arg(long, conflicts_with_all = ["json", "verbose", "into"])]
    pub story: bool,
    /// Put the short table into this Markdown file, between its `<!-- results -->` marks
    #[arg(long, value_name = "FILE")]
    pub into: Option<PathBuf>,
    /// Draw the result instead, as SVG files in this folder
    #[arg(long, value_name = "DIR", conflicts_with_all = ["json", "verbose", "story", "into"])]
    pub pictures: Option<PathBuf>,
}

/// For which shell.
#[derive(Args)]
pub struct CompletionsOptions {
    /// The shell
    pub shell: clap_complete::Shell,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_longest_purchase_is_over_before_nginx_gives_it_up() {
        let nginx = include_str!("../../nginx/nginx.conf");
        let (_, rest) = nginx.split_once("proxy_read_timeout ").expect("nginx has a limit");
        let (seconds, _) = rest.split_once("s;").expect("the limit is in seconds");
        let gives_up_ms = 1000 * seconds.parse::<u64>().expect("the limit is a number");
        assert!(LONGEST_WAIT_MS + app::http::MAX_WORK_MS < gives_up_ms);
    }
}
