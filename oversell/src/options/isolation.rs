//! The options of `oversell isolation`.

use std::path::PathBuf;

use clap::Args;

/// What each isolation level of MariaDB and PostgreSQL lets happen.
#[derive(Args)]
pub struct IsolationOptions {
    /// Keep what was seen in this folder: `isolation.json`, and as a page `isolation.md`
    #[arg(long, value_name = "DIR")]
    pub results: Option<PathBuf>,
    /// Never download a missing server, not even into the private cache
    #[arg(long)]
    pub no_fetch: bool,
}
