//! The options of `oversell lab`.

use std::path::PathBuf;

use clap::{Args, Subcommand};
use workshop::Language;

use crate::exit;

/// The folder of progress and results, where no other one is named.
pub const FOLDER: &str = "results/labs";

/// The labs of the workshop.
#[derive(Args)]
#[command(after_help = exit::HELP)]
pub struct LabOptions {
    #[command(subcommand)]
    pub command: Option<LabCommand>,
    /// The language of the texts: en or zh-CN
    #[arg(long, global = true, value_name = "TAG", default_value = "en", env = "OVERSELL_LANG", value_parser = language)]
    pub lang: Language,
    /// Keep progress and results in this folder
    #[arg(long, global = true, value_name = "DIR", default_value = FOLDER)]
    pub folder: PathBuf,
    /// Never download a missing server, not even into the private cache
    #[arg(long, global = true)]
    pub no_fetch: bool,
}

/// What is done with a lab. A lab is named by its number, such as 5 or 05.
#[derive(Subcommand)]
pub enum LabCommand {
    /// List the labs, and how far you are (without a command as well)
    List,
    /// Show the situation, and the lines of code that matter
    Start { lab: usize },
    /// Ask the question, or choose an answer by its letter. It cannot be changed afterwards
    Predict { lab: usize, answer: Option<char> },
    /// Play the strategies of the lab on real servers
    Run { lab: usize },
    /// Show what you said, what happened, and why
    Reveal { lab: usize },
    /// Show the next hint
    Hint { lab: usize },
    /// Be the scheduler: choose which purchase moves next until a promise is broken, and then see the shortest way
    Step { lab: usize },
    /// Put a strategy of your choice, or your own, under the threat of the lab, and under every interleaving
    Check { lab: usize, strategy: String },
    /// Forget the progress in a lab, or in all of them
    Reset { lab: Option<usize> },
    /// Print all labs as slides: one HTML page without a network
    Slides {
        /// Only the labs of the short path
        #[arg(long)]
        short: bool,
    },
}

fn language(text: &str) -> Result<Language, String> {
    let known = Language::ALL.into_iter().find(|language| language.tag() == text);
    known.ok_or_else(|| "it is en or zh-CN".to_owned())
}
