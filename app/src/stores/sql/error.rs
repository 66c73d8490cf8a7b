//! The meaning of the servers' errors for a purchase.

use sqlx::error::DatabaseError;
use sqlx::mysql::MySqlDatabaseError;
use sqlx::postgres::PgDatabaseError;

use super::Engine;
use crate::domain::Error;

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

/// The row would break a check constraint of PostgreSQL.
const PG_CHECK_VIOLATION: &str = "23514";

/// The errors of PostgreSQL, by SQL state: the ledger holds an order of that id.
const UNIQUE_VIOLATION: &str = "23505";

/// The attempt was rolled back: it cannot be put in a serial order, two transactions waited for each other, or the wait
/// for a lock timed out.
const PG_GIVEN_UP: [&str; 3] = ["40001", "40P01", "55P03"];

/// The server has no user with that name and password.
const INVALID_PASSWORD: &str = "28P01";

/// The class of SQL states of a server that ends a connection: for an operator, after a crash, or at its own end.
const OPERATOR: &str = "57P";

/// The SQL states for a table or column that is not as a statement expects it.
const PG_UNFIT: [&str; 3] = ["42703", "42P01", "42809"];

/// Whether the server ended the connection with this error.
pub(super) fn is_end_of_connection(error: &sqlx::Error) -> bool {
    pg_code(error).is_some_and(|code| code.starts_with(OPERATOR))
}

/// Returns the SQL state of PostgreSQL's error.
fn pg_code(error: &sqlx::Error) -> Option<&str> {
    let refused = error.as_database_error()?;
    let refused = refused.try_downcast_ref::<PgDatabaseError>();
    refused.map(PgDatabaseError::code)
}

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

/// Returns whether a check constraint refuses the row. In MariaDB the transaction goes on without the statement, in PostgreSQL it
/// can only be rolled back.
pub fn is_check_violation(error: &Error) -> bool {
    let Error::Failed { source, .. } = error else {
        return false;
    };
    let error = source.downcast_ref();
    error.and_then(number) == Some(CHECK_VIOLATION) || error.and_then(pg_code) == Some(PG_CHECK_VIOLATION)
}

/// Turns the error about a table of another shape into [`Error::Corrupt`].
pub(super) fn unfit(error: Error, engine: Engine) -> Error {
    let Error::Failed { source, .. } = &error else {
        return error;
    };
    let refused = source.downcast_ref().and_then(sqlx::Error::as_database_error);
    match refused {
        Some(refused) if is_unfit(refused, engine) => Error::Corrupt {
            store: engine.store(),
            what: refused.message().to_owned(),
        },
        _ => error,
    }
}

fn is_unfit(refused: &dyn DatabaseError, engine: Engine) -> bool {
    let code = refused.code().unwrap_or_default();
    match engine {
        Engine::MariaDb => {
            let number = refused.try_downcast_ref::<MySqlDatabaseError>();
            code.starts_with(UNFIT) || number.map(MySqlDatabaseError::number) == Some(NO_TABLE)
        }
        Engine::Postgres => PG_UNFIT.contains(&&*code),
    }
}

/// Returns what an error of such a server, or of its client, means.
pub(super) fn meaning(engine: Engine, error: sqlx::Error) -> Error {
    let store = engine.store();
    match (number(&error), pg_code(&error)) {
        (Some(DUPLICATE_ENTRY), _) | (_, Some(UNIQUE_VIOLATION)) => Error::Duplicate,
        (Some(number), _) if GIVEN_UP.contains(&number) => Error::given_up(store, &error),
        (_, Some(code)) if PG_GIVEN_UP.contains(&code) => Error::given_up(store, &error),
        (Some(ACCESS_DENIED), _) | (_, Some(INVALID_PASSWORD)) => Error::refused(store, &error),
        _ => Error::failed(store, error),
    }
}

impl From<sqlx::Error> for Error {
    /// For an error without a connection, such as a column of another type.
    fn from(error: sqlx::Error) -> Self {
        let engine = match pg_code(&error) {
            Some(_) => Engine::Postgres,
            None => Engine::MariaDb,
        };
        meaning(engine, error)
    }
}
