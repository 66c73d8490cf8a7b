//! `oversell strategies`: what there is to choose from, and how each one works.

use anyhow::Result;
use app::strategies::Entry;

use crate::exit::AS_DESIGNED;
use crate::markdown::{for_terminal, wrapped};
use crate::options::StrategiesOptions;
use crate::say;
use crate::selection::select;

/// Prints a line for each mechanism, or all there is to know of those that are named.
pub fn strategies(options: &StrategiesOptions) -> Result<u8> {
    let entries = Entry::all();
    let text = match &options.name {
        Some(name) => described(&entries, name)?,
        None => list(&entries),
    };
    say::result(&text)?;
    Ok(AS_DESIGNED)
}

/// One mechanism and its stores.
struct Row<'a> {
    first: &'a Entry,
    stores: Vec<&'static str>,
}

fn rows(entries: &[Entry]) -> Vec<Row<'_>> {
    let mut rows: Vec<Row<'_>> = Vec::new();
    for entry in entries {
        match rows
            .iter_mut()
            .find(|row| row.first.mechanism.name == entry.mechanism.name)
        {
            Some(row) => row.stores.push(entry.store),
            None => rows.push(Row {
                first: entry,
                stores: vec![entry.store],
            }),
        }
    }
    rows
}

fn list(entries: &[Entry]) -> String {
    let mut text = String::new();
    let mut family = None;
    for row in rows(entries) {
        let mechanism = row.first.mechanism;
        if family != Some(mechanism.family) {
            family = Some(mechanism.family);
            text += &format!("\n{}\n", mechanism.family.words());
        }
        let stores: Vec<_> = row.stores.iter().map(|store| format!("@{store}")).collect();
        let head = format!("  {:<12} {:<11} ", mechanism.name, stores.join(" "));
        text += &wrapped(mechanism.summary, &head, &" ".repeat(head.len()));
        text += "\n";
    }
    let more = "A strategy is a mechanism on a store: none@redis.\n\n\
                oversell strategies NAME           how it works, and what breaks it\n\
                oversell run --strategy NAME,...   puts it on trial; *@redis means all of them\n";
    format!("{}\n{more}", text.trim_start())
}

/// Everything about the mechanisms that `name` means: a mechanism, a strategy or a pattern.
fn described(entries: &[Entry], name: &str) -> Result<String> {
    let (mechanism, store) = name.split_once('@').unwrap_or((name, "*"));
    let known: Vec<_> = entries.iter().map(|entry| entry.name.as_str()).collect();
    let mechanisms: Vec<_> = entries.iter().map(|entry| entry.mechanism.name).collect();
    // A mistake in the mechanism is answered with mechanisms, one behind it with whole names.
    select("mechanism", &[mechanism.to_owned()], &mechanisms)?;
    let selected = select("strategy", &[format!("{mechanism}@{store}")], &known)?;
    let selected: Vec<_> = entries
        .iter()
        .filter(|entry| selected.contains(&entry.name.as_str()))
        .collect();
    let mut texts: Vec<String> = Vec::new();
    for row in rows(entries) {
        if selected
            .iter()
            .any(|entry| entry.mechanism.name == row.first.mechanism.name)
        {
            texts.push(description(&row));
        }
    }
    Ok(texts.join("\n\n"))
}

fn description(row: &Row<'_>) -> String {
    let mechanism = row.first.mechanism;
    let names: Vec<_> = row
        .stores
        .iter()
        .map(|store| format!("{}@{store}", mechanism.name))
        .collect();
    let claims = match mechanism.claims {
        [] => "nothing".to_owned(),
        claims => claims.join(", "),
    };
    let steps: Vec<_> = row.first.steps.iter().map(|step| step.name).collect();
    let facts = [
        ("strategies", names.join(", ")),
        ("family", mechanism.family.words().to_owned()),
        ("survives", claims),
        ("needs", row.first.needs.join(", ")),
        ("steps", steps.join(", ")),
    ];
    let facts = facts.map(|(name, value)| wrapped(&value, &format!("{name:<11} "), &" ".repeat(12)));
    format!(
        "{}\n\n{}\n\noversell run --strategy {}\n",
        facts.join("\n"),
        for_terminal(&mechanism.header()),
        names[0]
    )
}

#[cfg(test)]
mod tests {
    use loadtest::threats;

    use super::*;

    #[test]
    fn every_claim_names_a_threat_that_is_played() {
        for entry in Entry::all() {
            for claim in entry.mechanism.claims {
                let threat = threats::find(claim);
                assert!(
                    threat.is_some_and(|threat| !threat.is_control()),
                    "{}: {claim}",
                    entry.name
                );
            }
        }
    }
}
