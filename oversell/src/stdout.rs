//! Keeps stdout for results: goose writes warnings there, also after a run was interrupted.

use std::fs::File;
use std::io::{self, Write};
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
