//! `oversell threats`: the list of threats, and how each of them works.

use anyhow::Result;
use app::strategies::Entry;
use loadtest::threats;

use crate::console;
use crate::exit::AS_DESIGNED;
use crate::markdown::{for_terminal, wrapped};
use crate::options::ThreatsOptions;
use crate::selection::select;

/// The width of the column of names.
const NAME: usize = 16;

/// Prints a line for each threat, or the full description of the named ones.
pub fn threats(options: &ThreatsOptions) -> Result<u8> {
    let known = threats::names();
    let text = match &options.name {
        Some(name) => {
            let named = select("threat", std::slice::from_ref(name), &known)?;
            named.into_iter().map(described).collect::<Vec<_>>().join("\n")
        }
        None => {
            let lines: String = known.into_iter().map(line).collect();
            format!(
                "{lines}\noversell threats NAME         how it works, and the strategies that claim to survive it\n\
                     oversell run --threat NAME,... tries strategies under it\n"
            )
        }
    };
    console::print(&text)?;
    Ok(AS_DESIGNED)
}

/// Returns the name and the first sentence of the header.
fn line(name: &str) -> String {
    let header = threats::find(name)
        .map(threats::Threat::header)
        .unwrap_or_default()
        .replace('\n', " ");
    let sentence = header.split_once(". ").map_or(header.as_str(), |(first, _)| first);
    wrapped(
        sentence.trim_end_matches('.'),
        &format!("{name:<NAME$} "),
        &" ".repeat(NAME + 1),
    ) + "\n"
}

fn described(name: &str) -> String {
    let entries = Entry::all();
    let claiming = entries.iter().filter(|entry| entry.claims().contains(&name));
    let claiming: Vec<_> = claiming.map(|entry| entry.name.as_str()).collect();
    let is_control = threats::find(name).is_some_and(|threat| threat.is_control);
    let claimed = match (is_control, claiming.as_slice()) {
        (true, _) => "This is the control: every strategy has to be exact, whatever it claims.".to_owned(),
        (false, []) => "No strategy claims to survive this.".to_owned(),
        (false, claiming) => format!("These claim to survive it: {}.", claiming.join(", ")),
    };
    format!(
        "{name}\n\n{}\n\n{}\n\noversell run --threat {name}\n",
        for_terminal(&threats::find(name).map(threats::Threat::header).unwrap_or_default()),
        wrapped(&claimed, "", "")
    )
}
