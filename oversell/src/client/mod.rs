//! `oversell redis` and `oversell sql`: clients for the stores of the shop that is up.

mod redis;
mod sql;

use std::io::{self, BufRead, IsTerminal, Write};

use anyhow::Result;
use tokio::runtime::Runtime;

use crate::console;
use crate::exit::{AS_DESIGNED, Usage};
use crate::options::ClientOptions;

/// Sends commands to Redis.
pub fn redis(options: &ClientOptions) -> Result<u8> {
    let url = url(options, "OVERSELL_REDIS_URL", |(redis, _)| redis)?;
    Runtime::new()?.block_on(async {
        let mut client = redis::Client::open(&url).await?;
        match options.words.as_slice() {
            [] => each_line("redis> ", async |line| client.send_line(&line).await).await,
            words => console::print(&client.send(words).await?),
        }
    })?;
    Ok(AS_DESIGNED)
}

/// Sends statements to MariaDB.
pub fn sql(options: &ClientOptions) -> Result<u8> {
    let url = url(options, "OVERSELL_SQL_URL", |(_, sql)| sql)?;
    Runtime::new()?.block_on(async {
        let mut client = sql::Client::open(&url).await?;
        match options.words.as_slice() {
            [] => each_line("sql> ", async |line| client.send(&line).await).await,
            words => console::print(&client.send(&words.join(" ")).await?),
        }
    })?;
    Ok(AS_DESIGNED)
}

/// Returns the URL of the option or of the environment, else that of the one shop that is up.
fn url(options: &ClientOptions, variable: &str, of: fn((String, String)) -> String) -> Result<String, Usage> {
    if let Some(url) = options.url.clone().or_else(|| std::env::var(variable).ok()) {
        return Ok(url);
    }
    let mut running: Vec<_> = stack::running().into_iter().map(of).collect();
    match (running.pop(), running.is_empty()) {
        (Some(url), true) => Ok(url),
        (None, _) => Err(Usage(
            "no shop is up: start one with `oversell up`, or give --url".to_owned(),
        )),
        (Some(url), false) => Err(Usage(format!(
            "several shops are up: choose one with --url {url} or {}",
            running.join(" or ")
        ))),
    }
}

/// Answers line after line until the end of stdin. An error is printed, and the next line is read.
async fn each_line(prompt: &str, mut answer: impl AsyncFnMut(String) -> Result<String>) -> Result<()> {
    let stdin = io::stdin();
    let is_terminal = stdin.is_terminal();
    let mut lines = stdin.lock().lines();
    loop {
        if is_terminal {
            let _ = write!(io::stderr(), "{prompt}");
        }
        let Some(line) = lines.next() else { return Ok(()) };
        let line = line?;
        if line.trim().is_empty() {
            continue;
        }
        match answer(line).await {
            Ok(text) => console::print(&text)?,
            Err(error) => console::note(format_args!("{error:#}")),
        }
    }
}
