//! The options of `oversell explore` and `oversell replay`.

use std::path::PathBuf;

use clap::Args;

/// Strategies whose schedules are played.
#[derive(Args)]
#[command(after_help = HELP)]
pub struct ExploreOptions {
    /// Strategies, mechanisms or patterns, such as token@redis, token or '*@sql'. The schedule is shown for one alone; of
    /// several each is a line
    #[arg(required = true)]
    pub strategies: Vec<String>,
    /// The most times that a schedule interrupts a purchase that could go on
    #[arg(long, value_name = "N", default_value_t = 2)]
    pub preemptions: usize,
    /// The most events of a schedule: all leases in Redis end, or the process of a purchase is killed
    #[arg(long, value_name = "N", default_value_t = 1)]
    pub events: usize,
    /// The most schedules that are played
    #[arg(long, value_name = "N", default_value_t = 100_000)]
    pub schedules: u64,
    /// Keep the shortest schedule that breaks a promise in this file, for `oversell replay`
    #[arg(long, value_name = "FILE")]
    pub save: Option<PathBuf>,
    /// Never download a missing server, not even into the private cache
    #[arg(long)]
    pub no_fetch: bool,
}

/// A schedule that is played again.
#[derive(Args)]
#[command(after_help = REPLAY_HELP)]
pub struct ReplayOptions {
    /// A file of `oversell explore --save`
    pub schedule: PathBuf,
    /// Never download a missing server, not even into the private cache
    #[arg(long)]
    pub no_fetch: bool,
}

const HELP: &str = "\
Exit status:
  0    no schedule within the bounds breaks a promise
  1    at least one does
  2    there are more schedules than were to be played, and none of those broke a promise
  64   the command line is wrong
  69   a part cannot be found, started or reached
  130  interrupted";

const REPLAY_HELP: &str = "\
Exit status:
  0    each step and each finding is that of the file
  1    something is not
  64   the command line is wrong
  69   a part cannot be found, started or reached
  130  interrupted";
