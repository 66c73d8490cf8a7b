//! A statement with its values, and a row of its answer, for either kind of server.

use sqlx::mysql::{MySqlArguments, MySqlRow};
use sqlx::postgres::{PgArguments, PgRow};
use sqlx::query::Query;
use sqlx::{AssertSqlSafe, Decode, MySql, Postgres, Row as _, Type};

/// A statement with its values. A `?` stands for a value.
#[derive(Clone, Debug)]
pub struct Statement<'a> {
    text: &'static str,
    on_postgres: Option<&'static str>,
    values: Vec<Value<'a>>,
}

/// Creates a statement that both kinds of servers understand.
pub fn query(text: &'static str) -> Statement<'static> {
    Statement {
        text,
        on_postgres: None,
        values: Vec::new(),
    }
}

impl<'a> Statement<'a> {
    /// Gives the text for PostgreSQL where it has to be another one. It takes the same values in the same order; the last
    /// ones may be left out.
    pub fn on_postgres(mut self, text: &'static str) -> Self {
        self.on_postgres = Some(text);
        self
    }

    /// Adds the value of the next `?`.
    pub fn bind(mut self, value: impl Into<Value<'a>>) -> Self {
        self.values.push(value.into());
        self
    }

    pub(super) fn for_mariadb(&self) -> Query<'a, MySql, MySqlArguments> {
        let query = sqlx::query(self.text);
        self.values.iter().cloned().fold(query, |query, value| match value {
            Value::Int(value) => query.bind(value),
            Value::Float(value) => query.bind(value),
            Value::Text(value) => query.bind(value),
            Value::Borrowed(value) => query.bind(value),
        })
    }

    pub(super) fn for_postgres(&self) -> Query<'a, Postgres, PgArguments> {
        // The text holds no value, only numbers instead of the question marks.
        let text = self.on_postgres.unwrap_or(self.text);
        let wanted = text.matches('?').count();
        let query = sqlx::query(AssertSqlSafe(numbered(text)));
        self.values
            .iter()
            .take(wanted)
            .cloned()
            .fold(query, |query, value| match value {
                Value::Int(value) => query.bind(value),
                Value::Float(value) => query.bind(value),
                Value::Text(value) => query.bind(value),
                Value::Borrowed(value) => query.bind(value),
            })
    }
}

/// Replaces each `?` by `$1`, `$2` and so on, as PostgreSQL wants them.
fn numbered(text: &str) -> String {
    let mut parts = text.split('?');
    let mut numbered = parts.next().unwrap_or_default().to_owned();
    for (number, part) in (1..).zip(parts) {
        numbered.push_str(&format!("${number}{part}"));
    }
    numbered
}

/// A value of a statement.
#[derive(Clone, Debug)]
pub enum Value<'a> {
    /// A whole number, or null.
    Int(Option<i64>),
    /// A number with a fraction.
    Float(f64),
    /// A text.
    Text(String),
    /// A text that lives elsewhere, or null.
    Borrowed(Option<&'a str>),
}

impl From<i64> for Value<'_> {
    fn from(value: i64) -> Self {
        Self::Int(Some(value))
    }
}

impl From<Option<i64>> for Value<'_> {
    fn from(value: Option<i64>) -> Self {
        Self::Int(value)
    }
}

impl From<u32> for Value<'_> {
    fn from(value: u32) -> Self {
        Self::Int(Some(value.into()))
    }
}

impl From<u64> for Value<'_> {
    /// Fences, versions and times in microseconds stay far below the largest signed number.
    fn from(value: u64) -> Self {
        Self::Int(Some(value as i64))
    }
}

impl From<f64> for Value<'_> {
    fn from(value: f64) -> Self {
        Self::Float(value)
    }
}

impl From<String> for Value<'_> {
    fn from(value: String) -> Self {
        Self::Text(value)
    }
}

impl<'a> From<&'a String> for Value<'a> {
    fn from(value: &'a String) -> Self {
        Self::Borrowed(Some(value))
    }
}

impl<'a> From<&'a str> for Value<'a> {
    fn from(value: &'a str) -> Self {
        Self::Borrowed(Some(value))
    }
}

impl<'a> From<Option<&'a str>> for Value<'a> {
    fn from(value: Option<&'a str>) -> Self {
        Self::Borrowed(value)
    }
}

/// A row of an answer.
pub enum Row {
    /// Of MariaDB.
    MariaDb(MySqlRow),
    /// Of PostgreSQL.
    Postgres(PgRow),
}

/// A type that both kinds of servers have.
pub trait Column:
    for<'r> Decode<'r, MySql> + Type<MySql> + for<'r> Decode<'r, Postgres> + Type<Postgres> + Sized
{
}

impl<T> Column for T where T: for<'r> Decode<'r, MySql> + Type<MySql> + for<'r> Decode<'r, Postgres> + Type<Postgres> {}

impl Row {
    /// Returns a column, counted from 0.
    ///
    /// # Errors
    /// When it is missing or of another type.
    pub fn try_get<T: Column>(&self, column: usize) -> sqlx::Result<T> {
        match self {
            Self::MariaDb(row) => row.try_get(column),
            Self::Postgres(row) => row.try_get(column),
        }
    }

    /// Returns a column of a row whose columns the statement itself names.
    ///
    /// # Panics
    /// When it is missing or of another type.
    pub fn get<T: Column>(&self, column: usize) -> T {
        match self {
            Self::MariaDb(row) => row.get(column),
            Self::Postgres(row) => row.get(column),
        }
    }

    /// Returns a number without a sign, such as a fence. PostgreSQL has no such type and keeps it in a signed column.
    ///
    /// # Errors
    /// When the column is missing or of another type.
    pub fn unsigned(&self, column: usize) -> sqlx::Result<u64> {
        match self {
            Self::MariaDb(row) => row.try_get(column),
            Self::Postgres(row) => Ok(row.try_get::<i64, _>(column)? as u64),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::numbered;

    #[test]
    fn each_question_mark_becomes_a_number() {
        let text = "update store set num = num - ? where id = ? and num >= ?";
        assert_eq!(
            numbered(text),
            "update store set num = num - $1 where id = $2 and num >= $3"
        );
        assert_eq!(numbered("commit"), "commit");
    }
}
