//! The errors of the lock.

use redis::RedisError;

/// Why an operation on a lock failed.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// Redis does not answer, or refuses the command.
    #[error(transparent)]
    Redis(#[from] RedisError),
    /// A setting is out of bounds.
    #[error("{0}")]
    Setting(String),
}

impl Error {
    /// Whether the connection was lost. Redis may or may not have run the command, and the next one needs a new
    /// connection.
    pub(crate) fn is_cut(&self) -> bool {
        matches!(self, Self::Redis(error) if error.is_connection_dropped())
    }
}
