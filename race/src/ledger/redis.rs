//! Redis.

use anyhow::{Context, Result, ensure};
use redis::aio::MultiplexedConnection;
use redis::{Client, Value, cmd};

use super::{MOST_ROWS, Rows};

/// The mark of a command that changes nothing.
const READS: &str = "readonly";

/// Reads by a command of which Redis itself says that it changes nothing.
pub async fn read(url: &str, command: &str) -> Result<Rows> {
    let words = words(command)?;
    let mut connection = connect(url).await?;
    let known: Value = cmd("COMMAND")
        .arg("INFO")
        .arg(&words[0])
        .query_async(&mut connection)
        .await?;
    ensure!(is_read_only(&known), "{} is no command that only reads", words[0]);
    let answer: Value = send(&words, &mut connection).await?;
    let rows = rows(answer)?;
    ensure!(rows.len() <= MOST_ROWS, "the answer has more than {MOST_ROWS} values");
    Ok(rows)
}

/// Changes.
pub async fn write(url: &str, command: &str) -> Result<()> {
    let words = words(command)?;
    let mut connection = connect(url).await?;
    let _: Value = send(&words, &mut connection).await?;
    Ok(())
}

async fn connect(url: &str) -> Result<MultiplexedConnection> {
    let client = Client::open(url).context("the URL of the store")?;
    client.get_multiplexed_async_connection().await.context("Redis")
}

async fn send(words: &[String], connection: &mut MultiplexedConnection) -> Result<Value> {
    let mut command = cmd(&words[0]);
    command.arg(&words[1..]);
    Ok(command.query_async(connection).await?)
}

/// Returns the words of a command, of which there is at least one.
fn words(command: &str) -> Result<Vec<String>> {
    let words = shlex::split(command).context("a quotation mark is not closed")?;
    ensure!(!words.is_empty(), "no command of Redis is named");
    Ok(words)
}

/// Returns whether the answer of `COMMAND INFO` says so of its one command.
fn is_read_only(known: &Value) -> bool {
    let Value::Array(commands) = known else { return false };
    let Some(Value::Array(about)) = commands.first() else {
        return false;
    };
    let flags = match about.get(2) {
        Some(Value::Array(flags) | Value::Set(flags)) => flags,
        _ => return false,
    };
    flags.iter().any(|flag| text(flag).as_deref() == Some(READS))
}

/// Returns a row for each value of an answer, and for each field of a hash one with its name and its value.
fn rows(answer: Value) -> Result<Rows> {
    Ok(match answer {
        Value::Array(values) | Value::Set(values) => values.iter().map(|value| vec![text(value)]).collect(),
        Value::Map(fields) => fields
            .iter()
            .map(|(name, value)| vec![text(name), text(value)])
            .collect(),
        Value::ServerError(error) => anyhow::bail!("{error}"),
        Value::Nil => Rows::new(),
        value => vec![vec![text(&value)]],
    })
}

fn text(value: &Value) -> Option<String> {
    match value {
        Value::BulkString(bytes) => Some(String::from_utf8_lossy(bytes).into_owned()),
        Value::SimpleString(text) => Some(text.clone()),
        Value::Int(number) => Some(number.to_string()),
        Value::Double(number) => Some(number.to_string()),
        _ => None,
    }
}
