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

impl Ran {
    /// Whether it was interrupted.
    pub fn is_interrupted(&self) -> bool {
        self.status == INTERRUPTED
    }
}

/// Runs commands one after the other, and reads what they print. Shows each command first. Ends early when one is interrupted.
///
/// # Errors
/// When one cannot be started.
pub fn read(commands: Vec<Vec<String>>) -> Result<Vec<Ran>> {
    let all = move |stop: Stop| async move {
        let mut done = Vec::new();
        for command in commands {
            console::note(format_args!("$ {} {}", console::program(), command.join(" ")));
            let child = called(&command)
                .stdout(Stdio::piped())
                .spawn()
                .context("this program cannot be called")?;
            let ran = ended(child, &stop).await?;
            let is_over = ran.is_interrupted();
            done.push(ran);
            if is_over {
                break;
            }
        }
        Ok(done)
    };
    let interrupted = Ran {
        status: INTERRUPTED,
        stdout: String::new(),
    };
    interrupt::unless_interrupted(all).unwrap_or_else(|| Ok(vec![interrupted]))
}

/// Runs a command that talks to the learner. A request to stop reaches it from the terminal.
///
/// # Errors
/// When it cannot be started.
pub fn talk(command: &[String]) -> Result<u8> {
    let status = called(command).status().context("this program cannot be called")?;
    Ok(exit_status(status))
}

fn called(command: &[String]) -> Command {
    // The program may have been replaced on disk since it was started; its own file is always this one.
    let own = env::current_exe().unwrap_or_else(|_| "oversell".into());
    let mut called = Command::new(own);
    called.args(command);
    called
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
