//! Commands of this program, called again as processes of their own.

use std::process::{Child, Command, ExitStatus, Stdio};
use std::{env, io};

use anyhow::{Context, Result};
use nix::sys::signal::{Signal, kill};
use nix::unistd::Pid;

use crate::console;
use crate::exit::INTERRUPTED;
use crate::interrupt::{self, Stop};

/// What a command did.
pub struct Ran {
    /// Its exit status.
    pub status: u8,
    /// What it printed on stdout, if that was to be read.
    pub stdout: String,
}

/// Runs a command, and reads what it prints. Shows the command first.
///
/// # Errors
/// When it cannot be started.
pub fn read(command: Vec<String>) -> Result<Ran> {
    let run = move |stop: Stop| async move {
        console::note(format_args!("$ {} {}", console::program(), command.join(" ")));
        let child = called(&command)?.stdout(Stdio::piped()).spawn();
        ended(child.context("this program cannot be called")?, &stop).await
    };
    interrupt::unless_interrupted(run).unwrap_or_else(|| {
        Ok(Ran {
            status: INTERRUPTED,
            stdout: String::new(),
        })
    })
}

/// Runs a command that talks to the learner. A request to stop reaches it from the terminal.
///
/// # Errors
/// When it cannot be started.
pub fn talk(command: &[String]) -> Result<u8> {
    let status = called(command)?.status().context("this program cannot be called")?;
    Ok(exit_status(status))
}

fn called(command: &[String]) -> Result<Command> {
    let mut called = Command::new(env::current_exe().context("this program cannot find its own file")?);
    called.args(command);
    Ok(called)
}

/// Waits for the end of a child. A request to stop is passed on.
async fn ended(child: Child, stop: &Stop) -> Result<Ran> {
    let pid = Pid::from_raw(i32::try_from(child.id())?);
    let mut output = tokio::task::spawn_blocking(move || child.wait_with_output());
    let output = tokio::select! {
        output = &mut output => output,
        _ = stop.wait() => {
            // It may have ended meanwhile.
            let _ = kill(pid, Signal::SIGTERM);
            output.await
        }
    };
    let output: io::Result<_> = output.context("a thread that waits")?;
    let output = output?;
    Ok(Ran {
        status: exit_status(output.status),
        stdout: String::from_utf8_lossy(&output.stdout).into_owned(),
    })
}

fn exit_status(status: ExitStatus) -> u8 {
    // Killed by a signal: nothing was decided.
    status
        .code()
        .and_then(|code| u8::try_from(code).ok())
        .unwrap_or(INTERRUPTED)
}
