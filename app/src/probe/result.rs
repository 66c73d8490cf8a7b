//! The result of a step: a value that a program can use, and the words for a reader.

use std::borrow::Cow;
use std::fmt;

use serde::{Deserialize, Serialize};

/// The value that a step returned.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum StepValue {
    /// The units of stock that are left.
    Left(i64),
    /// The units of stock that were written.
    Wrote(i64),
    /// The lock was taken, with this fencing token.
    Fence(u64),
    /// Whether the lock was taken; if not, another purchase holds it.
    Taken(bool),
}

/// The result of a step, as an observer sees it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct StepResult {
    /// The value, where the step has one.
    pub value: Option<StepValue>,
    /// The result in a few words. Where there is a value, they contain it.
    pub words: Cow<'static, str>,
}

impl StepValue {
    /// Returns a result with this value that says more than the value: `note` follows it.
    pub fn with(self, note: impl fmt::Display) -> StepResult {
        StepResult {
            value: Some(self),
            words: format!("{self}, {note}").into(),
        }
    }

    /// Returns a result with this value that says more than the value: `note` comes before it.
    pub fn after(self, note: impl fmt::Display) -> StepResult {
        StepResult {
            value: Some(self),
            words: format!("{note}, {self}").into(),
        }
    }
}

impl fmt::Display for StepValue {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Left(units) => write!(f, "left {units}"),
            Self::Wrote(units) => write!(f, "wrote {units}"),
            Self::Fence(fence) => write!(f, "taken, fence {fence}"),
            Self::Taken(true) => f.write_str("taken"),
            Self::Taken(false) => f.write_str("held by another"),
        }
    }
}

impl From<StepValue> for StepResult {
    fn from(value: StepValue) -> Self {
        Self {
            value: Some(value),
            words: value.to_string().into(),
        }
    }
}

impl From<&'static str> for StepResult {
    fn from(words: &'static str) -> Self {
        Self {
            value: None,
            words: words.into(),
        }
    }
}

impl From<String> for StepResult {
    fn from(words: String) -> Self {
        Self {
            value: None,
            words: words.into(),
        }
    }
}
