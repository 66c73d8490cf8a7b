//! The options of a journal beside a server in a container.

use std::path::PathBuf;

use clap::Args;

/// A journal of what a server writes and does not sync.
#[derive(Args)]
pub struct JournalOptions {
    /// Begin it, look into it, or undo what was not synced
    #[arg(value_parser = ["begin", "look", "lose"])]
    pub command: String,
    /// The folder of the journal, on the same mount as the data
    pub folder: PathBuf,
    /// The folder with the data of the server
    pub data: PathBuf,
}
