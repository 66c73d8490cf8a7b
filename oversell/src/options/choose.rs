//! The options of `oversell choose`.

use std::path::PathBuf;

use clap::{Args, ValueEnum};
use loadtest::result::choice::{Stores, WORDS};
use loadtest::threats;

/// What a strategy is needed for.
#[derive(Args)]
#[command(after_help = HELP)]
pub struct ChooseOptions {
    /// A result.json, or the folder of a run [default: the newest results/*-matrix, -matrix-2 and -matrix-3]
    pub result: Option<PathBuf>,
    /// Where stock and orders may lie; without it every answer is given
    #[arg(long, value_name = "STORES")]
    pub stores: Option<StoresChoice>,
    #[arg(long, value_name = "THREAT", value_delimiter = ',', default_value = "crash,pause", help = survive_help())]
    pub survive: Vec<String>,
    /// Print the answer as JSON
    #[arg(long)]
    pub json: bool,
}

/// Where stock and orders lie.
#[derive(Clone, Copy, ValueEnum)]
pub enum StoresChoice {
    /// Both in Redis
    Redis,
    /// Both in MariaDB
    Sql,
    /// Both in PostgreSQL
    Pg,
    /// Both in a Redis Cluster
    Cluster,
    /// One in Redis, the other in MariaDB
    Both,
}

impl From<StoresChoice> for Stores {
    fn from(choice: StoresChoice) -> Self {
        match choice {
            StoresChoice::Redis => Self::Redis,
            StoresChoice::Sql => Self::Sql,
            StoresChoice::Pg => Self::Pg,
            StoresChoice::Cluster => Self::Cluster,
            StoresChoice::Both => Self::Both,
        }
    }
}

fn survive_help() -> String {
    let words = WORDS.map(|(word, threats)| format!("{word} ({})", threats.join(", ")));
    let names = threats::all().iter().filter(|threat| !threat.is_control);
    let named = |name: &&str| !WORDS.iter().any(|(_, threats)| threats.contains(name));
    let others: Vec<_> = names.map(|threat| threat.name).filter(named).collect();
    format!(
        "What the strategy has to survive, besides a crowd on several instances (separated by commas): {}; {}; or all. The \
         names in brackets work, too",
        words.join("; "),
        others.join(", ")
    )
}

/// The exit statuses, which are not those of a run.
const HELP: &str = "\
Exit status:
  0   at least one strategy holds
  1   no strategy holds
  64  the command line is wrong, the result cannot be read, or its run did not try one of the threats";
