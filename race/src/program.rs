//! Programs that a shop file names. No shell reads their arguments.

use std::process::{Command, Stdio};
use std::time::Duration;

use anyhow::{Context, Result, ensure};
use loadtest::text::one_line;
use tokio::io::{AsyncRead, AsyncReadExt, copy, sink};
use tokio::time::timeout;

/// The longest time for one program.
const WITHIN: Duration = Duration::from_secs(60);

/// The time to read on after its end: another program that it has started may keep its stderr open.
const READ_ON: Duration = Duration::from_millis(100);

/// The most bytes of its stderr that are kept.
const MAX_SAID: u64 = 4 * 1024;

/// The most characters of them that are shown.
const MAX_SHOWN: usize = 500;

/// Runs a program to its end.
///
/// # Errors
/// When it cannot be started, or fails, or does not end in time; with what it says on stderr. That may have secrets.
pub async fn run(program: &[String]) -> Result<()> {
    let (name, arguments) = program.split_first().context("no program is named")?;
    let mut command = Command::new(name);
    command.args(arguments);
    // Ctrl-C must not end a shop that the program starts, but a signal to that shop must.
    stack::set_apart(&mut command);
    let mut command = tokio::process::Command::from(command);
    let started = command
        .kill_on_drop(true)
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .stderr(Stdio::piped());
    let mut child = started.spawn().context("it cannot be started")?;
    let stderr = child.stderr.take().context("it has no stderr")?;
    let mut said = Vec::new();
    let status = {
        let read = read(stderr, &mut said);
        tokio::pin!(read);
        let ended = async {
            tokio::select! {
                status = child.wait() => {
                    // Whatever is missing then is not waited for.
                    let _ = timeout(READ_ON, &mut read).await;
                    status
                }
                () = &mut read => child.wait().await,
            }
        };
        let in_time = timeout(WITHIN, ended).await;
        in_time.with_context(|| format!("it did not end within {} s", WITHIN.as_secs()))??
    };
    let said = String::from_utf8_lossy(&said);
    let said = said.split_whitespace().collect::<Vec<_>>().join(" ");
    ensure!(status.success(), "{status}: {}", one_line(&said, MAX_SHOWN));
    Ok(())
}

/// Reads to the end, and keeps the begin.
async fn read(mut from: impl AsyncRead + Unpin, kept: &mut Vec<u8>) {
    // An end by an error is an end, too.
    let _ = (&mut from).take(MAX_SAID).read_to_end(kept).await;
    let _ = copy(&mut from, &mut sink()).await;
}
