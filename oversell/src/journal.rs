//! `oversell journal`: what the script `supervised` runs beside a server in a container.

use anyhow::Result;

use crate::console;
use crate::exit::AS_DESIGNED;
use crate::options::JournalOptions;

/// Prints the numbers that the command is answered with.
pub fn journal(options: &JournalOptions) -> Result<u8> {
    let answer = stack::journal(&options.command, &options.folder, &options.data)?;
    console::print(&format!("{answer}\n"))?;
    Ok(AS_DESIGNED)
}
