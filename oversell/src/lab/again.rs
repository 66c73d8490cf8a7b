//! Commands of this program, called again as processes of their own. They speak English; what a learner reads of it is said anew, line
//! by line, in another language.

use std::io::{BufRead, BufReader, Read};
use std::process::{Child, Command, ExitStatus, Stdio};
use std::thread::JoinHandle;
use std::{env, io, thread};

use anyhow::{Context, Result};
use nix::sys::signal::{Signal, kill};
use nix::unistd::Pid;
use workshop::Language;

use super::columns::in_columns;
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

/// Runs a command, and reads what it prints on stdout. Shows the command first, and then its progress.
///
/// # Errors
/// When it cannot be started.
pub fn read(command: Vec<String>, language: Language) -> Result<Ran> {
    let run = move |stop: Stop| async move {
        console::note(format_args!("$ {} {}", console::program(), command.join(" ")));
        let child = called(&command, language)?.stdout(Stdio::piped()).spawn();
        let mut child = child.context("this program cannot be called")?;
        let notes = child.stderr.take().map(|lines| noted(lines, language));
        let ran = ended(child, &stop).await;
        all_noted(notes);
        ran
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
pub fn talk(command: &[String], language: Language) -> Result<u8> {
    let mut called = called(command, language)?;
    if language != Language::English {
        called.stdout(Stdio::piped());
    }
    let mut child = called.spawn().context("this program cannot be called")?;
    let notes = child.stderr.take().map(|lines| noted(lines, language));
    for line in child.stdout.take().into_iter().flat_map(lines) {
        console::print(&in_columns(&line, &|words| language.say(words)))?;
    }
    let status = child.wait().context("the command that was called is lost")?;
    all_noted(notes);
    Ok(exit_status(status))
}

/// Returns a command whose progress and errors come from a pipe where they have to be said anew.
fn called(command: &[String], language: Language) -> Result<Command> {
    let mut called = Command::new(env::current_exe().context("this program cannot find its own file")?);
    called.args(command);
    if language != Language::English {
        called.stderr(Stdio::piped());
    }
    Ok(called)
}

/// Notes each line in this language, until the pipe ends.
fn noted(pipe: impl Read + Send + 'static, language: Language) -> JoinHandle<()> {
    thread::spawn(move || lines(pipe).for_each(|line| console::note(language.say(&line))))
}

/// Waits until the last line is noted.
fn all_noted(notes: Option<JoinHandle<()>>) {
    if let Some(notes) = notes {
        // It ends in an error only by a panic, which was told.
        let _ = notes.join();
    }
}

fn lines(pipe: impl Read) -> impl Iterator<Item = String> {
    BufReader::new(pipe).lines().map_while(io::Result::ok)
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
