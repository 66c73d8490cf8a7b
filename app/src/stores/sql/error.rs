//! The meaning of MariaDB's errors for a purchase.

use sqlx::error::DatabaseError;
use sqlx::mysql::MySqlDatabaseError;

use super::Sql;
use crate::domain::Error;
use crate::stores::Store;

/// The ledger holds an order of that id.
const DUPLICATE_ENTRY: u16 = 1062;

/// The attempt was rolled back: the row has changed since it was read, the wait for a row timed out, or two
/// transactions waited for each other.
const GIVEN_UP: [u16; 3] = [1020, 1205, 1213];

/// The row would break a check constraint.
const CHECK_VIOLATION: u16 = 4025;

/// The server has no setting of that name.
pub(super) const UNKNOWN_VARIABLE: u16 = 1193;

/// No XA transaction has that name, or it still belongs to another connection.
const UNKNOWN_XID: u16 = 1397;

/// The class of SQL states for a table or column that is not as a statement expects it.
const UNFIT: &str = "42S";

/// The name belongs to something other than a table, such as a view.
const NO_TABLE: u16 = 1347;

/// The server has no user with that name and password.
const ACCESS_DENIED: u16 = 1045;

/// Returns the number of MariaDB's error.
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

/// Returns whether a check constraint refuses the row. The transaction goes on without the statement.
pub fn is_check_violation(error: &Error) -> bool {
    let Error::Failed { source, .. } = error else {
        return false;
    };
    source.downcast_ref().and_then(number) == Some(CHECK_VIOLATION)
}

/// Turns the error about a table of another shape into [`Error::Corrupt`].
pub(super) fn unfit(error: Error) -> Error {
    let Error::Failed { source, .. } = &error else {
        return error;
    };
    let refused = source.downcast_ref().and_then(sqlx::Error::as_database_error);
    let is_unfit = |refused: &dyn DatabaseError| {
        let number = refused.try_downcast_ref::<MySqlDatabaseError>();
        refused.code().is_some_and(|code| code.starts_with(UNFIT))
            || number.map(MySqlDatabaseError::number) == Some(NO_TABLE)
    };
    match refused {
        Some(refused) if is_unfit(refused) => Error::Corrupt {
            store: Sql::NAME,
            what: refused.message().to_owned(),
        },
        _ => error,
    }
}

impl From<sqlx::Error> for Error {
    fn from(error: sqlx::Error) -> Self {
        match number(&error) {
            Some(DUPLICATE_ENTRY) => Self::Duplicate,
            Some(number) if GIVEN_UP.contains(&number) => Self::given_up(Sql::NAME, &error),
            Some(ACCESS_DENIED) => Self::refused(Sql::NAME, &error),
            _ => Self::failed(Sql::NAME, error),
        }
    }
}
