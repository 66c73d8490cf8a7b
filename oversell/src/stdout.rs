//! Stdout: its kind, and how it is kept for results. Goose writes warnings there, even after a run was interrupted.

use std::fs::File;
use std::io::{self, IsTerminal, Write};
use std::os::fd::AsFd;

/// Returns stdout as a file, and lets everything else that this process writes to stdout go nowhere.
///
/// # Errors
/// When the system gives no more files.
pub fn keep_aside() -> io::Result<File> {
    io::stdout().flush()?;
    let stdout = io::stdout().as_fd().try_clone_to_owned()?;
    let nowhere = File::options().write(true).open("/dev/null")?;
    nix::unistd::dup2_stdout(nowhere)?;
    Ok(stdout.into())
}

/// The target of stdout.
#[derive(Clone, Copy)]
pub enum Terminal {
    /// A terminal.
    Shown {
        /// Whether it shows colours, and was not told to show none.
        colour: bool,
        /// Its width, in columns.
        width: usize,
    },
    /// A file or a pipe.
    None,
}

impl Terminal {
    /// Looks at stdout as it is now. `NO_COLOR` and `TERM=dumb` ask for no colours.
    pub fn of_stdout() -> Self {
        if !io::stdout().is_terminal() {
            return Self::None;
        }
        let is_unwanted = std::env::var_os("NO_COLOR").is_some_and(|value| !value.is_empty());
        let is_dumb = std::env::var_os("TERM").is_none_or(|term| term == "dumb");
        Self::Shown {
            colour: !is_unwanted && !is_dumb,
            width: textwrap::termwidth(),
        }
    }
}
