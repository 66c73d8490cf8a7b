//! Statements to MariaDB, and their rows.

use anyhow::{Context, Result};
use comfy_table::Table;
use comfy_table::presets::ASCII_MARKDOWN;
use futures_util::TryStreamExt;
use sqlx::mysql::MySqlRow;
use sqlx::{AssertSqlSafe, Column, Connection, Either, MySqlConnection, Row, raw_sql};

/// The most rows that are shown.
const MOST_ROWS: usize = 1_000;

pub struct Client(MySqlConnection);

impl Client {
    pub async fn open(url: &str) -> Result<Self> {
        Ok(Self(
            MySqlConnection::connect(url).await.context("MariaDB does not answer")?,
        ))
    }

    /// Returns the rows as a table, or the number of rows that the statement changed.
    pub async fn send(&mut self, statement: &str) -> Result<String> {
        let mut results = raw_sql(AssertSqlSafe(statement.to_owned())).fetch_many(&mut self.0);
        let (mut rows, mut changed) = (Vec::new(), 0);
        while let Some(result) = results.try_next().await? {
            match result {
                Either::Left(done) => changed += done.rows_affected(),
                Either::Right(row) if rows.len() < MOST_ROWS => rows.push(row),
                Either::Right(_) => {}
            }
        }
        Ok(match rows.first() {
            None => format!("{changed} rows changed\n"),
            Some(first) => format!("{}\n", table(first, &rows)),
        })
    }
}

fn table(first: &MySqlRow, rows: &[MySqlRow]) -> Table {
    let mut table = Table::new();
    table.load_style(ASCII_MARKDOWN);
    table.set_header(first.columns().iter().map(Column::name));
    for row in rows {
        // In answers to plain text every value is text.
        let cells = (0..row.len()).map(|at| match row.try_get_unchecked::<Option<String>, _>(at) {
            Ok(Some(text)) => text,
            Ok(None) => "null".to_owned(),
            Err(error) => format!("({error})"),
        });
        table.add_row(cells.collect::<Vec<_>>());
    }
    table
}
