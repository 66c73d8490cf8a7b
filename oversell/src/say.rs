//! What the program says. A reader who has seen enough and gone is no reason to fail, let alone to panic.

use std::fmt::Display;
use std::io::{self, Write};

use anyhow::{Context, Result};

/// Says something on stdout, which is for results.
///
/// # Errors
/// When it cannot be written although somebody wants it: the disk is full.
pub fn result(text: &str) -> Result<()> {
    result_to(&mut io::stdout().lock(), text)
}

/// Says something on a stdout that was kept aside.
///
/// # Errors
/// As [`result`].
pub fn result_to(stdout: &mut impl Write, text: &str) -> Result<()> {
    match stdout.write_all(text.as_bytes()).and_then(|()| stdout.flush()) {
        Err(error) if error.kind() != io::ErrorKind::BrokenPipe => Err(error).context("cannot print the result"),
        _ => Ok(()),
    }
}

/// Says one line on stderr, which is for everything else.
pub fn aside(line: impl Display) {
    // When stderr is gone there is nowhere left to say so.
    let _ = writeln!(io::stderr(), "{line}");
}

/// The program as it was called, for commands that can be pasted.
pub fn program() -> String {
    let called = std::env::args().next().unwrap_or_default();
    if called.is_empty() {
        "oversell".to_owned()
    } else {
        called
    }
}
