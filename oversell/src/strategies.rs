//! `oversell strategies`: what there is to choose from, and how each one works.

use anyhow::Result;
use app::strategies::Entry;
use loadtest::threats;

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
    entries: Vec<&'a Entry>,
}

fn rows(entries: &[Entry]) -> Vec<Row<'_>> {
    let mut rows: Vec<Row<'_>> = Vec::new();
    for entry in entries {
        match rows
            .iter_mut()
            .find(|row| row.first.mechanism.name == entry.mechanism.name)
        {
            Some(row) => row.entries.push(entry),
            None => rows.push(Row {
                first: entry,
                entries: vec![entry],
            }),
        }
    }
    rows
}

/// Stands before the lines below a summary, and before nothing else: the README leaves these out.
const FACTS: &str = "    ";

fn list(entries: &[Entry]) -> String {
    let mut text = String::new();
    let mut family = None;
    let mut rows = rows(entries);
    let width = rows.iter().map(|row| row.first.mechanism.name.len()).max().unwrap_or(0);
    // By family, in the order in which the lessons come to them.
    let families: Vec<_> = rows.iter().map(|row| row.first.mechanism.family).collect();
    rows.sort_by_key(|row| families.iter().position(|family| *family == row.first.mechanism.family));
    for row in rows {
        let mechanism = row.first.mechanism;
        if family != Some(mechanism.family) {
            family = Some(mechanism.family);
            text += &format!("\n{}\n", mechanism.family.words());
        }
        let stores: Vec<_> = row.entries.iter().map(|entry| format!("@{}", entry.store)).collect();
        let head = format!("  {:<width$} {:<11} ", mechanism.name, stores.join(" "));
        text += &format!("{}\n", wrapped(mechanism.summary, &head, &" ".repeat(head.len())));
        let survives = format!("survives {}; needs {}", survives(&row), needs(&row));
        text += &format!("{}\n", wrapped(&survives, FACTS, FACTS));
    }
    let more = "A strategy is a mechanism on a store: none@redis.\n\n\
                oversell strategies NAME           how it works, and what breaks it\n\
                oversell run --strategy NAME,...   puts it on trial; *@redis means all of them\n";
    format!("{}\n{more}", text.trim_start())
}

/// What it needs on every store; besides, on each, the store itself.
fn needs(row: &Row<'_>) -> String {
    if row.entries.len() == 1 {
        return row.first.needs.join(", ");
    }
    let own = row.first.mechanism.needs.iter().map(|need| (*need).to_owned());
    own.chain(["its store".to_owned()]).collect::<Vec<_>>().join(", ")
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

/// The threats that strategies are tried under, by name.
fn played() -> Vec<&'static str> {
    let threats = threats::all().iter().filter(|threat| !threat.is_control);
    threats.map(|threat| threat.name).collect()
}

/// The threats that it claims to survive, on all its stores.
fn survives(row: &Row<'_>) -> String {
    let is_claimed = |threat: &&str| row.entries.iter().all(|entry| entry.claims().contains(threat));
    let (claimed, others): (Vec<_>, Vec<_>) = played().into_iter().partition(is_claimed);
    match (claimed.len(), others.len()) {
        (0, _) => "nothing".to_owned(),
        (_, 0) => "all".to_owned(),
        (some, others) if some <= others => claimed.join(", "),
        _ => format!("all but {}", others.join(", ")),
    }
}

/// The threats that break it, and where a fault strikes it.
fn broken_by(row: &Row<'_>) -> String {
    let mechanism = row.first.mechanism;
    let breaks = |threat: &str| {
        let is_on = |entry: &&&Entry| entry.broken_by().contains(&threat);
        let on: Vec<_> = row
            .entries
            .iter()
            .filter(is_on)
            .map(|entry| format!("@{}", entry.store))
            .collect();
        match on.len() {
            0 => None,
            all if all == row.entries.len() => Some(threat.to_owned()),
            _ => Some(format!("{threat} ({})", on.join(", "))),
        }
    };
    let named = played().into_iter().filter_map(breaks);
    let sometimes = mechanism.claims.sometimes_broken_by.iter();
    let sometimes = sometimes.map(|name| format!("{name} (now and then)"));
    let strikes = format!("a fault strikes it at {}", mechanism.weak_at);
    match named.chain(sometimes).collect::<Vec<_>>().as_slice() {
        [] => format!("nothing known; {strikes}"),
        names => format!("{}; {strikes}", names.join(", ")),
    }
}

fn description(row: &Row<'_>) -> String {
    let mechanism = row.first.mechanism;
    let names: Vec<_> = row.entries.iter().map(|entry| entry.name.as_str()).collect();
    let mut steps: Vec<_> = Vec::new();
    for step in row.entries.iter().flat_map(|entry| &entry.steps) {
        if !steps.contains(&step.name) {
            steps.push(step.name);
        }
    }
    let facts = [
        ("strategies", names.join(", ")),
        ("family", mechanism.family.words().to_owned()),
        ("survives", survives(row)),
        ("broken by", broken_by(row)),
        ("needs", needs(row)),
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
    use super::*;

    #[test]
    fn what_a_strategy_survives_or_is_broken_by_is_a_threat() {
        for entry in Entry::all() {
            let sometimes = entry.mechanism.claims.sometimes_broken_by.to_vec();
            for threat in [entry.claims(), entry.broken_by(), sometimes].concat() {
                assert!(played().contains(&threat), "{}: {threat}", entry.name);
            }
        }
    }

    #[test]
    fn the_step_at_which_a_fault_strikes_is_one_that_it_takes() {
        for entry in Entry::all() {
            let weak_at = entry.mechanism.weak_at;
            let step = weak_at.strip_suffix('+').unwrap_or(weak_at);
            assert!(
                entry.steps.iter().any(|known| known.is_called(step)),
                "{}: {step}",
                entry.name
            );
        }
    }
}
