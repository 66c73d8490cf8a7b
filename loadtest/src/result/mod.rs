//! The result of a run: `result.json`, schema version 2, described by `docs/result.schema.json`.

pub mod cell;
pub mod choice;
pub mod compare;
pub mod conclusion;
mod consistency;
pub mod environment;
mod round;
pub mod soak_totals;
pub mod summary;

use anyhow::{Result, anyhow, ensure};
use serde::{Deserialize, Serialize};

use crate::plan::soak::Soak;
use crate::result::environment::Environment;
use crate::text::why_unreadable;

pub use round::{RoundFacts, RoundResult};

/// The version of the schema. It is raised when a field changes its meaning or a required field is added.
pub const SCHEMA_VERSION: u32 = 2;

/// A run: every measurement of every round. Only `as_designed` is derived from them.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct RunResult {
    /// The schema version, [`SCHEMA_VERSION`].
    pub schema_version: u32,
    /// The number of rounds after which the run ended early, and the reason if it is known.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub ended_early: Option<String>,
    /// The command line, without passwords.
    pub command: String,
    /// The seed and size of a soak, if the plan was drawn.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub soak: Option<Soak>,
    /// When the run began, UTC, RFC 3339.
    pub started_at: String,
    /// The machine and the programs.
    pub environment: Environment,
    /// Whether every strategy behaved under every threat as it claims; `null` while a cell is inconclusive, was
    /// skipped, or was not played because the run ended early.
    pub as_designed: Option<bool>,
    /// One entry per round.
    pub rounds: Vec<RoundResult>,
}

impl RunResult {
    /// Reads a `result.json`.
    ///
    /// # Errors
    /// When it is not a result, has another schema version, so that its fields may have another meaning, or disagrees
    /// with itself.
    pub fn parse(json: &[u8]) -> Result<Self> {
        #[derive(Deserialize)]
        struct Version {
            schema_version: u32,
        }
        let no_result =
            |error: serde_json::Error| anyhow!("this is not a result of oversell: {}", why_unreadable(&error));
        let Version { schema_version } = serde_json::from_slice(json).map_err(no_result)?;
        ensure!(
            schema_version == SCHEMA_VERSION,
            "this result has schema version {schema_version}, and only version {SCHEMA_VERSION} can be read; play it again"
        );
        let run: Self = serde_json::from_slice(json).map_err(no_result)?;
        run.check()?;
        Ok(run)
    }

    /// Computes again what follows from the numbers of each round.
    ///
    /// # Errors
    /// When the result says something else. The message names the round and the field.
    pub fn check(&self) -> Result<()> {
        consistency::check(self)
    }
}
