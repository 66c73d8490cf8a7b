//! Output on stdout and stderr. A reader that has closed its pipe is no error.

use std::fmt::Display;
use std::io::{self, Write};
use std::path::Path;

use anyhow::{Context, Result};
use loadtest::text::printable;

/// Prints a result on stdout.
///
/// # Errors
/// When it cannot be written although stdout is still read, such as on a full disk.
pub fn print(text: &str) -> Result<()> {
    print_to(&mut io::stdout().lock(), text)
}

/// Prints a result on a stdout that was kept aside.
///
/// # Errors
/// As [`print`].
pub fn print_to(stdout: &mut impl Write, text: &str) -> Result<()> {
    match stdout.write_all(text.as_bytes()).and_then(|()| stdout.flush()) {
        Err(error) if error.kind() != io::ErrorKind::BrokenPipe => Err(error).context("cannot print the result"),
        _ => Ok(()),
    }
}

/// Prints lines on stderr: progress, warnings and errors. Whatever they quote moves no cursor.
pub fn note(text: impl Display) {
    let text = text.to_string();
    let lines: Vec<_> = text.split('\n').map(printable).collect();
    // When stderr is gone, nothing is left to report that to.
    let _ = writeln!(io::stderr(), "{}", lines.join("\n"));
}

/// Returns a path as it can be shown: a folder of somebody else may have any name.
pub fn path(path: &Path) -> String {
    printable(&path.to_string_lossy())
}

/// Returns the program as it was called, for commands that can be pasted.
pub fn program() -> String {
    let called = std::env::args().next().unwrap_or_default();
    if called.is_empty() {
        "oversell".to_owned()
    } else {
        printable(&called)
    }
}
