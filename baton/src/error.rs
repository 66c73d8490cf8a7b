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
