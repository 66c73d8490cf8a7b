//! The errors of Redis in the shop's own words.

use std::sync::Arc;

use redis::{ErrorKind, RedisError, ServerError};

use super::Redis;
use crate::domain::Error;
use crate::stores::Store;

/// The error code of Redis for a key that holds another type of value than the command needs.
const WRONG_TYPE: &str = "WRONGTYPE";

/// Turns the error about a key with the wrong type into [`Error::Corrupt`].
pub(super) fn unfit(error: Error) -> Error {
    let Error::Failed { source, .. } = &error else {
        return error;
    };
    let is_unfit = |refused: &&RedisError| {
        let of_pipeline = (*refused).clone().into_server_errors();
        let is_wrong = |errors: Arc<[(usize, ServerError)]>| errors.iter().any(|(_, error)| error.code() == WRONG_TYPE);
        refused.kind() == ErrorKind::Parse || of_pipeline.is_some_and(is_wrong)
    };
    match source.downcast_ref::<RedisError>().filter(is_unfit) {
        Some(refused) => Error::Corrupt {
            store: Redis::NAME,
            what: refused.to_string(),
        },
        None => error,
    }
}

impl From<RedisError> for Error {
    fn from(error: RedisError) -> Self {
        match error.kind() {
            ErrorKind::AuthenticationFailed => Self::refused(Redis::NAME, &error),
            _ => Self::failed(Redis::NAME, error),
        }
    }
}
