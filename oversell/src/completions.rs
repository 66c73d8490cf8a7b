//! `oversell completions`: the completion script of a shell.

use anyhow::Result;
use clap::CommandFactory;

use crate::console;
use crate::exit::AS_DESIGNED;
use crate::options::{CompletionsOptions, Options};

/// Prints the script of one shell.
pub fn completions(options: &CompletionsOptions) -> Result<u8> {
    let mut script = Vec::new();
    let mut command = <Options as CommandFactory>::command();
    let name = command.get_name().to_owned();
    clap_complete::generate(options.shell, &mut command, name, &mut script);
    console::print(&String::from_utf8(script)?)?;
    Ok(AS_DESIGNED)
}
