//! What can go wrong.

use redis::RedisError;

/// Why a lock was not had, or not given back.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// Redis does not answer or refuses.
    #[error(transparent)]
    Redis(#[from] RedisError),
    /// It cannot work with these settings.
    #[error("{0}")]
    Setting(String),
}

impl Error {
    /// Whether the connection was lost, and whether the command came through is unknown: the next one goes over another.
    pub(crate) fn is_cut(&self) -> bool {
        matches!(self, Self::Redis(error) if error.is_connection_dropped())
    }
}
