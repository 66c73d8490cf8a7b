//! The options of `oversell explore` and `oversell replay`.

use std::path::PathBuf;

use clap::Args;
use explore::EventKind;

/// Strategies whose schedules are played.
#[derive(Args)]
#[command(after_help = HELP)]
pub struct ExploreOptions {
    /// Strategies, mechanisms or patterns, such as token@redis, token or '*@sql'. The schedule is shown for one alone; of
    /// several each is a line
    #[arg(required = true)]
    pub strategies: Vec<String>,
    /// The purchases, at the instances in turn. There is one unit less
    #[arg(long, value_name = "N", default_value_t = 2, value_parser = clap::value_parser!(u8).range(2..=3))]
    pub purchases: u8,
    /// The instances
    #[arg(long, value_name = "N", default_value_t = 2, value_parser = clap::value_parser!(u8).range(1..=2))]
    pub instances: u8,
    /// The most times that a schedule interrupts a purchase that could go on, or `all`: no bound, but schedules that differ
    /// only in the order of steps that commute are played once
    #[arg(long, value_name = "N", default_value = "2", value_parser = preemptions)]
    pub preemptions: Preemptions,
    /// With `--preemptions all`: play also the schedules that differ only in the order of steps that commute
    #[arg(long)]
    pub unreduced: bool,
    /// The most events of a schedule
    #[arg(long, value_name = "N", default_value_t = 1)]
    pub events: usize,
    /// The kinds of events that may happen: `lease-ends` (more time passes than a lease lasts, and no renewal comes),
    /// `slow-holder` (the work does, and renewals come), `crash` (the process of a purchase is killed), `redis-empties` (Redis comes back without its data, where it has neither stock nor orders),
    /// `redis-fails-over` (its replica takes over, without the last write, there as well), `repeat`
    /// (a purchase arrives a second time, at the other instance, as its retry may), `lost-reply` (a step is carried out, and the
    /// reply to it is lost), `late-request` (a purchase loses its connection before its request reaches the store, which carries it
    /// out later), `worker-wakes` (time passes, and each step of a background worker may come between those of purchases),
    /// `session-ends` (the session ends that holds a named lock, or a lock of etcd or ZooKeeper, and its process goes on); all without this option
    #[arg(long = "event", value_name = "KIND", value_delimiter = ',', value_parser = event)]
    pub kinds: Vec<EventKind>,
    /// Choose yourself what happens next, line by line: the steps that were taken and the choices are shown
    #[arg(long, conflicts_with_all = ["results", "random", "unreduced"])]
    pub step: bool,
    /// Play so many random schedules instead: the algorithm PCT, with a bug depth of one more than `--preemptions`
    #[arg(long, value_name = "SCHEDULES", conflicts_with_all = ["results", "unreduced"])]
    pub random: Option<u64>,
    /// The seed of `--random`: the same seed gives the same schedules
    #[arg(long, value_name = "N", default_value_t = 1, requires = "random")]
    pub seed: u64,
    /// The most schedules that are played
    #[arg(long, value_name = "N", default_value_t = 100_000)]
    pub schedules: u64,
    /// Keep the shortest schedule that breaks a promise in this file, for `oversell replay`
    #[arg(long, value_name = "FILE")]
    pub save: Option<PathBuf>,
    /// Search without events, and then once for each kind of event, and keep the findings in this folder: `schedules.json`,
    /// as a table `schedules.md`, and with pictures `schedules.html`
    #[arg(long, value_name = "DIR", conflicts_with = "save")]
    pub results: Option<PathBuf>,
    /// Never download a missing server, not even into the private cache
    #[arg(long)]
    pub no_fetch: bool,
}

/// A bound on preemptions; none for `all`.
#[derive(Clone, Copy, Debug)]
pub struct Preemptions(pub Option<usize>);

fn preemptions(text: &str) -> Result<Preemptions, String> {
    match text {
        "all" => Ok(Preemptions(None)),
        number => {
            let most = number.parse().map_err(|_| "a number or `all` is expected".to_owned())?;
            Ok(Preemptions(Some(most)))
        }
    }
}

fn event(text: &str) -> Result<EventKind, String> {
    let known = EventKind::ALL.into_iter().find(|kind| kind.name() == text);
    known.ok_or_else(|| format!("it is one of {}", EventKind::ALL.map(EventKind::name).join(", ")))
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
