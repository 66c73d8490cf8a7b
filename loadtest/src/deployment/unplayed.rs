//! Why a round is not played.

/// The reason why a round is not played.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Unplayed {
    /// This deployment lacks a part that the threat strikes, whatever is started. It decides nothing about the strategy, and a run
    /// may be as designed without it.
    NotPlayable(String),
    /// Something is missing that could be there. A run without it is no success.
    Skipped(String),
}
