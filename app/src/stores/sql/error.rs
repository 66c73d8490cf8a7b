//! What MariaDB's errors mean to a purchase.

use sqlx::mysql::MySqlDatabaseError;

use super::Sql;
use crate::sale::Error;
use crate::stores::Store;

/// The ledger holds an order of that id.
const DUPLICATE_ENTRY: u16 = 1062;

/// The attempt is over and was rolled back: the row has changed since it was read, the wait for a row timed out, or two
/// transactions waited for each other.
const GIVEN_UP: [u16; 3] = [1020, 1205, 1213];

impl From<sqlx::Error> for Error {
    fn from(error: sqlx::Error) -> Self {
        let refused = error
            .as_database_error()
            .and_then(|refused| refused.try_downcast_ref::<MySqlDatabaseError>());
        match refused.map(MySqlDatabaseError::number) {
            Some(DUPLICATE_ENTRY) => Self::Duplicate,
            Some(number) if GIVEN_UP.contains(&number) => Self::given_up(Sql::NAME, &error),
            _ => Self::failed(Sql::NAME, error),
        }
    }
}
