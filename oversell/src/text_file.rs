//! Files that a user names, such as certificates: text of a limited length.

use std::fs::File;
use std::io::Read;
use std::path::Path;

use anyhow::{Context, Result, ensure};

/// The longest such file, in bytes. All certificates that a system trusts are about as long.
const MAX_FILE: u64 = 256 * 1024;

/// Reads a file.
///
/// # Errors
/// When it cannot be read as text, or is too long.
pub fn read(file: &Path) -> Result<String> {
    let mut text = String::new();
    let file = File::open(file).context("it cannot be opened")?;
    let read = file.take(MAX_FILE + 1).read_to_string(&mut text);
    read.context("it cannot be read as text")?;
    ensure!(text.len() as u64 <= MAX_FILE, "it is over {MAX_FILE} bytes");
    Ok(text)
}
