//! The options of commands that show results or explain names.

use std::path::PathBuf;

use clap::Args;

/// The results to compare.
#[derive(Args)]
pub struct CompareOptions {
    /// The older result.json, or the folder it is in
    pub before: PathBuf,
    /// The newer one
    pub after: PathBuf,
    /// Print the comparison as one HTML page, which needs no network: both results of every cell that changed, side by side
    #[arg(long)]
    pub html: bool,
}

/// The strategy to explain.
#[derive(Args)]
pub struct StrategiesOptions {
    /// A mechanism such as token, a strategy such as token@redis, or a pattern such as *lock
    pub name: Option<String>,
}

/// The threat to explain.
#[derive(Args)]
pub struct ThreatsOptions {
    /// A threat such as crashed-holder, or a pattern
    pub name: Option<String>,
}

/// The result to print, and its form.
#[derive(Args)]
pub struct ReportOptions {
    /// A result.json, or the folder of a run, also of one that was killed
    pub result: PathBuf,
    /// Print the result as JSON
    #[arg(long, conflicts_with = "verbose")]
    pub json: bool,
    /// Print the result, or the findings of `explore --results`, as one HTML page, which needs no network
    #[arg(long, conflicts_with_all = ["json", "verbose", "story", "into"])]
    pub html: bool,
    /// Print every trial, as in files and pipes
    #[arg(long)]
    pub verbose: bool,
    /// Tell how violations came about: the steps of those involved, side by side and in words
    #[arg(long, conflicts_with_all = ["json", "verbose", "into"])]
    pub story: bool,
    /// Fill in the generated parts of this Markdown file, such as the one between `<!-- results -->` and `<!-- /results -->`
    #[arg(long, value_name = "FILE")]
    pub into: Option<PathBuf>,
    /// Draw the result instead, as SVG files in this folder
    #[arg(long, value_name = "DIR", conflicts_with_all = ["json", "html", "verbose", "story", "into"])]
    pub charts: Option<PathBuf>,
}

/// The shell.
#[derive(Args)]
pub struct CompletionsOptions {
    /// The shell
    pub shell: clap_complete::Shell,
}
