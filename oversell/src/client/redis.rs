//! Commands to Redis, and its answers.

use anyhow::{Context, Result};
use redis::aio::MultiplexedConnection;
use redis::{Value, cmd};

pub struct Client(MultiplexedConnection);

impl Client {
    pub async fn open(url: &str) -> Result<Self> {
        let client = redis::Client::open(url).context("the URL of Redis")?;
        let connection = client.get_multiplexed_async_connection().await;
        Ok(Self(connection.context("Redis does not answer")?))
    }

    /// Sends one line, which is split into words as in a shell.
    pub async fn send_line(&mut self, line: &str) -> Result<String> {
        let words = shlex::split(line).context("a quotation mark is missing")?;
        self.send(&words).await
    }

    pub async fn send(&mut self, words: &[String]) -> Result<String> {
        let mut command = cmd(words.first().map_or("", String::as_str));
        for word in &words[1.min(words.len())..] {
            command.arg(word);
        }
        let answer: Value = command.query_async(&mut self.0).await?;
        let mut text = String::new();
        show(&answer, &mut text);
        Ok(text)
    }
}

/// Writes a line for each value, also for each value of a collection.
fn show(value: &Value, text: &mut String) {
    let line = match value {
        Value::Nil => "(nil)".to_owned(),
        Value::Int(number) => number.to_string(),
        Value::BulkString(bytes) => String::from_utf8_lossy(bytes).into_owned(),
        Value::SimpleString(said) => said.clone(),
        Value::Okay => "OK".to_owned(),
        Value::Array(values) | Value::Set(values) => return values.iter().for_each(|value| show(value, text)),
        Value::Map(pairs) => {
            return pairs.iter().for_each(|(key, value)| {
                show(key, text);
                show(value, text);
            });
        }
        other => format!("{other:?}"),
    };
    text.push_str(&line);
    text.push('\n');
}
