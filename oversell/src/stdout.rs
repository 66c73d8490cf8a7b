//! What stdout is, and how it is kept for results: goose writes warnings there, also after a run was interrupted.

use std::fs::File;
use std::io::{self, IsTerminal, Write};
use std::os::fd::AsFd;

/// From now on, whatever this process writes to stdout goes nowhere; what shall be read is written to the file returned.
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

/// What stdout leads to.
#[derive(Clone, Copy)]
pub enum Terminal {
    /// A terminal that shows colours.
    Colour,
    /// A terminal that does not, or was told not to.
    Plain,
    /// A file or a pipe.
    None,
}

impl Terminal {
    /// What stdout leads to just now. `NO_COLOR` and `TERM=dumb` ask for none.
    pub fn of_stdout() -> Self {
        if !io::stdout().is_terminal() {
            return Self::None;
        }
        let is_unwanted = std::env::var_os("NO_COLOR").is_some_and(|value| !value.is_empty());
        let is_dumb = std::env::var_os("TERM").is_none_or(|term| term == "dumb");
        if is_unwanted || is_dumb {
            Self::Plain
        } else {
            Self::Colour
        }
    }
}
