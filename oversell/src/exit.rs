//! Exit statuses, the same for every command.

use std::process::ExitCode;

use crate::say;

/// Everything was as designed.
pub const AS_DESIGNED: u8 = 0;
/// Something was not.
pub const NOT_AS_DESIGNED: u8 = 1;
/// Some rounds were no test.
pub const INCONCLUSIVE: u8 = 2;
/// The command line is wrong.
pub const USAGE: u8 = 64;
/// A part that is needed cannot be reached, found or started.
pub const UNREACHABLE: u8 = 69;
/// A store holds what this version cannot read, or was set up with another key.
pub const OTHERS_DATA: u8 = 78;
/// Ctrl-C, or another request to stop.
pub const INTERRUPTED: u8 = 130;

/// What `--help` says about them.
pub const HELP: &str = "\
Exit status:
  0    every strategy did as it claims
  1    at least one did not
  2    inconclusive: some rounds were no test
  64   the command line is wrong
  69   a part that is needed cannot be found, started or reached
  78   a store holds what this version cannot read, or was set up with another key
  130  interrupted";

/// A mistake in the command line that shows only later.
#[derive(Debug)]
pub struct Usage(pub String);

impl std::fmt::Display for Usage {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(&self.0)
    }
}

impl std::error::Error for Usage {}

/// The exit status of a result; an error is told on stderr, cause by cause.
pub fn code(result: anyhow::Result<u8>) -> ExitCode {
    match result {
        Ok(status) => status.into(),
        Err(error) => {
            say::aside(format_args!("oversell: {error:#}"));
            if error.is::<Usage>() { USAGE } else { UNREACHABLE }.into()
        }
    }
}
