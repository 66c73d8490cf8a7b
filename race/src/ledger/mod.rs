//! The stores of a shop: statements that only read, with a limit on rows and time, and statements that open a sale.

mod redis;
mod sql;

use std::time::Duration;

use anyhow::{Context, Result, bail};
use tokio::time::timeout;
use url::Url;

/// What a URL of a store has to be.
pub const KNOWN: &str = "the URL of a store begins with mysql://, mariadb://, postgres://, sqlite: or redis://";

/// The longest time for one statement.
const WITHIN: Duration = Duration::from_secs(10);

/// The most rows that are read.
pub const MOST_ROWS: usize = 100_000;

/// The rows of an answer. A value that is not there is `None`.
pub type Rows = Vec<Vec<Option<String>>>;

/// The ways to speak to a store.
enum Kind {
    Sql(sql::Kind),
    Redis,
}

impl Kind {
    fn of(url: &str) -> Option<Self> {
        let (scheme, _) = url.split_once(':')?;
        Some(match scheme {
            "mysql" | "mariadb" => Self::Sql(sql::Kind::MySql),
            "postgres" | "postgresql" => Self::Sql(sql::Kind::Postgres),
            "sqlite" => Self::Sql(sql::Kind::Sqlite),
            "redis" | "redis+unix" | "unix" => Self::Redis,
            _ => return None,
        })
    }
}

/// Returns whether a store of this URL can be read.
pub fn is_known(url: &str) -> bool {
    Kind::of(url).is_some()
}

/// Returns the store as it can be shown: without user and password.
fn named(url: &str) -> String {
    let Ok(mut named) = Url::parse(url) else {
        return "the store".to_owned();
    };
    // A URL that has no place for them has none.
    let _ = (named.set_username(""), named.set_password(None));
    named.set_query(None);
    format!("the store {named}")
}

/// Reads from a store, which cannot be changed by that.
///
/// # Errors
/// When the store cannot be reached, or refuses the statement, or it would write, or does not end in time.
pub async fn read(url: &str, statement: &str) -> Result<Rows> {
    let read = async {
        match Kind::of(url) {
            Some(Kind::Sql(kind)) => sql::read(kind, url, statement).await,
            Some(Kind::Redis) => redis::read(url, statement).await,
            None => bail!(KNOWN),
        }
    };
    within(read).await.with_context(|| named(url))
}

/// Changes a store.
///
/// # Errors
/// When the store cannot be reached, or refuses the statement, or it does not end in time.
pub async fn write(url: &str, statement: &str) -> Result<()> {
    let written = async {
        match Kind::of(url) {
            Some(Kind::Sql(kind)) => sql::write(kind, url, statement).await,
            Some(Kind::Redis) => redis::write(url, statement).await,
            None => bail!(KNOWN),
        }
    };
    within(written).await.with_context(|| named(url))
}

async fn within<T>(done: impl Future<Output = Result<T>>) -> Result<T> {
    let ended = timeout(WITHIN, done).await;
    ended.with_context(|| format!("the statement did not end within {} s", WITHIN.as_secs()))?
}
