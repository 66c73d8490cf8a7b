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

/// The server has no setting of that name.
pub(super) const UNKNOWN_VARIABLE: u16 = 1193;

/// No XA transaction of that name is there, or it still belongs to another connection.
const UNKNOWN_XID: u16 = 1397;

/// The number of a refusal by MariaDB.
pub(super) fn number(error: &sqlx::Error) -> Option<u16> {
    let refused = error.as_database_error()?;
    let refused = refused.try_downcast_ref::<MySqlDatabaseError>();
    refused.map(MySqlDatabaseError::number)
}

pub(super) fn is_unknown_xid(error: &Error) -> bool {
    let Error::Failed { source, .. } = error else {
        return false;
    };
    source.downcast_ref().and_then(number) == Some(UNKNOWN_XID)
}

impl From<sqlx::Error> for Error {
    fn from(error: sqlx::Error) -> Self {
        match number(&error) {
            Some(DUPLICATE_ENTRY) => Self::Duplicate,
            Some(number) if GIVEN_UP.contains(&number) => Self::given_up(Sql::NAME, &error),
            _ => Self::failed(Sql::NAME, error),
        }
    }
}
