//! The options of `oversell race`.

use std::path::PathBuf;

use clap::Args;

/// A shop that is put on trial as it is.
#[derive(Args)]
#[command(after_help = HELP)]
pub struct RaceOptions {
    /// The shop file: how buyers are made ready, the request that is raced, and how stock and orders are read
    #[arg(required_unless_present_any = ["example", "schema"])]
    pub shop: Option<PathBuf>,
    /// Print a shop file in which every part is explained
    #[arg(long, exclusive = true)]
    pub example: bool,
    /// Print the JSON Schema of shop files
    #[arg(long, exclusive = true)]
    pub schema: bool,
    /// Walk through the shop file with one buyer, and show each request, each answer and what is read
    #[arg(long, conflicts_with_all = ["buyers", "clicks", "rounds", "results"])]
    pub check: bool,
    /// The buyers that are released at one moment
    #[arg(long, value_name = "N", default_value_t = 20, value_parser = clap::value_parser!(u16).range(2..=500))]
    pub buyers: u16,
    /// How often each buyer sends the raced request at that moment, in one session
    #[arg(long, value_name = "N", default_value_t = 1, value_parser = clap::value_parser!(u8).range(1..=10))]
    pub clicks: u8,
    /// The races, besides the controls: buyers who come one at a time, and a race without the fault of the shop file
    #[arg(long, value_name = "N", default_value_t = 5, value_parser = clap::value_parser!(u16).range(1..=1000))]
    pub rounds: u16,
    /// Keep the rounds in this folder: `race.json`, and as a table `race.md`
    #[arg(long, value_name = "DIR")]
    pub results: Option<PathBuf>,
    /// Trust the certificates of this PEM file, too, for https:// URLs of the shop
    #[arg(long, value_name = "FILE", conflicts_with = "insecure")]
    pub ca_file: Option<PathBuf>,
    /// Check no certificate of the shop. The result says so
    #[arg(long)]
    pub insecure: bool,
    /// Race a shop that is neither on this machine nor in a private network: it belongs to you. At most 50 buyers come, and
    /// five seconds pass between rounds
    #[arg(long)]
    pub i_own_this_shop: bool,
}

const HELP: &str = "\
Exit status:
  0    no round shows a violation
  1    at least one does, or the shop file does not fit the shop
  2    at least one round decides nothing, and none shows a violation
  64   the command line or the shop file is wrong
  69   the shop or a store cannot be reached, or refuses what the shop file says
  130  interrupted";
