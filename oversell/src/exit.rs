//! The exit statuses of every command.

use std::process::ExitCode;

use crate::console;

/// Everything is as designed.
pub const AS_DESIGNED: u8 = 0;
/// Something is not as designed.
pub const NOT_AS_DESIGNED: u8 = 1;
/// Some rounds decide nothing, or were skipped.
pub const INCONCLUSIVE: u8 = 2;
/// The command line is wrong.
pub const USAGE: u8 = 64;
/// A part cannot be found, started or reached.
pub const UNREACHABLE: u8 = 69;
/// A store holds data that this version cannot read, or was set up with another key.
pub const OTHERS_DATA: u8 = 78;
/// Ctrl-C or another request to stop.
pub const INTERRUPTED: u8 = 130;

/// The exit statuses as the `--help` of a command explains them.
pub const HELP: &str = "\
Exit status:
  0    all is as designed
  1    something is not as designed
  2    inconclusive: some rounds decide nothing, or were skipped
  64   the command line is wrong
  69   a part cannot be found, started or reached
  78   a store holds data that this version cannot read, or was set up with another key
  130  interrupted";

/// A mistake in the command line that only the command itself can find.
#[derive(Debug)]
pub struct Usage(pub String);

impl std::fmt::Display for Usage {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(&self.0)
    }
}

impl std::error::Error for Usage {}

/// Returns the exit status of a result, and prints an error on stderr with its causes.
pub fn code(result: anyhow::Result<u8>) -> ExitCode {
    match result {
        Ok(status) => status.into(),
        Err(error) => {
            console::note(format_args!("oversell: {error:#}"));
            if error.is::<Usage>() { USAGE } else { UNREACHABLE }.into()
        }
    }
}
