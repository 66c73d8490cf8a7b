//! The script `docker/supervised`, which runs one server or instance as a child and has two pipes: one for commands, and one for
//! answers. They are in a folder with the name of the server, and those of instances in the folder `instances`, under their addresses.

use std::collections::BTreeMap;
use std::fmt;
use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use anyhow::{Context, Result, bail, ensure};
use tokio::io::{AsyncBufReadExt, AsyncWriteExt, BufReader};
use tokio::net::unix::pipe;
use tokio::time::timeout;

use crate::preloaded::NumbersFile;

/// The longest wait for an answer. A server that was killed has to leave its memory first.
const ANSWERS_WITHIN: Duration = Duration::from_secs(20);

const COMMANDS: &str = "commands";
const ANSWERS: &str = "answers";

/// The folder with those of the instances.
const INSTANCES: &str = "instances";

/// A file that is there if the server can keep a journal of what it does not sync.
const JOURNAL: &str = "journal";

/// The answer to a command that failed.
const FAILED: &str = "failed";

/// A preloaded library. The file with its numbers, which is there if the process has it, has its name.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Library {
    /// A clock of its own.
    Clock,
    /// A disk that can be full.
    Disk,
}

/// What the script is asked to do.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Command {
    /// Kill the server with all its processes (SIGKILL), and answer when all are gone.
    Kill,
    /// Start the server unless it runs, and let it go on if it was paused.
    Start,
    /// Pause the server with all its processes (SIGSTOP).
    Pause,
    /// Ask the server to end (SIGTERM), and answer with its exit status when it has.
    Stop,
    /// Keep the server ended when it ends by itself, until its next start.
    KeepEnded,
    /// Answer whether the server runs: 1 or 0.
    Runs,
    /// Begin a journal of what the server does not sync, from its next start on.
    Begin,
    /// Look into the journal.
    Look,
    /// Undo what the server, which was killed, did not sync.
    Lose,
    /// Start the server like [`Command::Start`], without a journal, and leave it to its engine when it ends by itself.
    Restore,
}

impl Library {
    pub(super) const ALL: [Library; 2] = [Library::Clock, Library::Disk];

    /// Returns the library of that name.
    pub(super) fn find(name: &str) -> Option<Library> {
        Library::ALL.into_iter().find(|library| library.to_string() == name)
    }
}

impl fmt::Display for Library {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Library::Clock => "clock",
            Library::Disk => "disk",
        })
    }
}

/// The pipes of one server.
pub(super) struct Supervised {
    at: PathBuf,
}

impl Command {
    /// Returns the command of that name, if a load test may give it.
    pub(super) fn find(name: &str) -> Option<Command> {
        let all = [
            Command::Kill,
            Command::Start,
            Command::Pause,
            Command::Stop,
            Command::KeepEnded,
            Command::Runs,
            Command::Begin,
            Command::Look,
            Command::Lose,
        ];
        all.into_iter().find(|command| command.to_string() == name)
    }
}

impl fmt::Display for Command {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Command::Kill => "kill",
            Command::Start => "start",
            Command::Pause => "pause",
            Command::Stop => "stop",
            Command::KeepEnded => "keep-ended",
            Command::Runs => "runs",
            Command::Begin => "begin",
            Command::Look => "look",
            Command::Lose => "lose",
            Command::Restore => "restore",
        })
    }
}

impl Supervised {
    /// Returns every server and instance with its pipes in this folder, by name.
    pub(super) fn all(folder: &Path) -> BTreeMap<String, Supervised> {
        let in_folder = |folder: &Path| folder.read_dir().into_iter().flatten().flatten();
        let entries = in_folder(folder).chain(in_folder(&folder.join(INSTANCES)));
        let with_pipes = entries.filter(|entry| entry.path().join(COMMANDS).exists());
        let named = with_pipes.filter_map(|entry| {
            let name = entry.file_name().into_string().ok()?;
            Some((name, Supervised { at: entry.path() }))
        });
        named.collect()
    }

    /// Returns the pipes of the server or instance of that name.
    pub(super) fn of(folder: &Path, name: &str) -> Option<Supervised> {
        Supervised::all(folder).remove(name)
    }

    /// Returns whether the server can keep a journal.
    pub(super) fn keeps_journal(&self) -> bool {
        self.at.join(JOURNAL).exists()
    }

    /// Returns whether the server has this library.
    pub(super) fn has(&self, library: Library) -> bool {
        self.at.join(library.to_string()).exists()
    }

    /// Returns the numbers of the library.
    ///
    /// # Errors
    ///
    /// When the server does not have it.
    pub(super) fn numbers(&self, library: Library) -> Result<NumbersFile> {
        ensure!(self.has(library), "it has no {library} of its own");
        NumbersFile::existing(&self.at.join(library.to_string()))
    }

    /// Carries out a command. Returns the number of the process that was killed, runs or is paused, the exit status of one that was
    /// stopped, or what the journal answers.
    ///
    /// # Errors
    ///
    /// When the script does not run, does not answer in time, or fails.
    pub(super) async fn ask(&self, command: Command) -> Result<String> {
        let mut options = pipe::OpenOptions::new();
        // Open before the command is sent: an answer that nobody can read would be lost.
        let answers = options.read_write(true).open_receiver(self.at.join(ANSWERS))?;
        let commands = pipe::OpenOptions::new().open_sender(self.at.join(COMMANDS));
        let mut commands = commands.context("its container does not run")?;
        let since = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
        // Answers to earlier questions may still lie in the pipe.
        let question = format!("{} ", since.as_nanos());
        commands.write_all(format!("{question}{command}\n").as_bytes()).await?;
        let answer = async {
            let mut lines = BufReader::new(answers).lines();
            while let Some(line) = lines.next_line().await? {
                match line.strip_prefix(&question) {
                    Some(FAILED) => bail!("it failed, and the log of its container says why"),
                    Some(answer) => return Ok(answer.to_owned()),
                    None => {}
                }
            }
            bail!("its pipe was closed")
        };
        let answered = timeout(ANSWERS_WITHIN, answer).await;
        answered.with_context(|| format!("no answer to {command} within {ANSWERS_WITHIN:?}"))?
    }
}
