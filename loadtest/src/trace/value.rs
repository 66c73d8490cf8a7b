//! The value that a step of a shop returned.

use serde::{Deserialize, Deserializer, Serialize};

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

impl StepValue {
    /// Returns the units of stock that it tells; `None` for a lock.
    pub(crate) fn units(self) -> Option<i64> {
        match self {
            Self::Left(units) | Self::Wrote(units) => Some(units),
            Self::Fence(_) | Self::Taken(_) => None,
        }
    }

    /// Reads the value of an event. A value that is not known here counts as none.
    pub(super) fn known<'de, D: Deserializer<'de>>(from: D) -> Result<Option<Self>, D::Error> {
        let value = Option::<serde_json::Value>::deserialize(from)?;
        Ok(value.and_then(|value| serde_json::from_value(value).ok()))
    }
}
