//! `oversell strategies`: the list of strategies, and how each of them works.

use anyhow::Result;
use app::strategies::Entry;
use loadtest::threats;

use crate::console;
use crate::exit::AS_DESIGNED;
use crate::markdown::{for_terminal, wrapped};
use crate::options::StrategiesOptions;
use crate::selection::strategies_called;

/// Prints a line for each mechanism, or the full description of the named ones.
pub fn strategies(options: &StrategiesOptions) -> Result<u8> {
    let entries = Entry::all();
    let text = match &options.name {
        Some(name) => described(&entries, name)?,
        None => list(&entries),
    };
    console::print(&text)?;
    Ok(AS_DESIGNED)
}

/// One mechanism and its stores.
struct Row<'a> {
    first: &'a Entry,
    entries: Vec<&'a Entry>,
}

fn rows<'a>(entries: impl IntoIterator<Item = &'a Entry>) -> Vec<Row<'a>> {
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

/// The indent of the lines below a summary. Nothing else has it: the README leaves these lines out.
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

/// Returns the services that it needs: on several stores, "its store" stands for each of them.
fn needs(row: &Row<'_>) -> String {
    if row.entries.len() == 1 {
        return row.first.needs.join(", ");
    }
    let own = row.first.mechanism.needs.iter().map(|need| (*need).to_owned());
    own.chain(["its store".to_owned()]).collect::<Vec<_>>().join(", ")
}

/// Describes the mechanisms that `name` means (a mechanism, a strategy or a pattern) on the stores that it means.
fn described(entries: &[Entry], name: &str) -> Result<String> {
    let known: Vec<_> = entries.iter().map(|entry| entry.name.as_str()).collect();
    let selected = strategies_called(name, &known)?;
    let selected = entries.iter().filter(|entry| selected.contains(&entry.name.as_str()));
    let texts: Vec<_> = rows(selected).iter().map(description).collect();
    Ok(texts.join("\n\n"))
}

/// Returns the names of the threats that strategies are tried under.
fn played() -> Vec<&'static str> {
    let threats = threats::all().iter().filter(|threat| !threat.is_control);
    threats.map(|threat| threat.name).collect()
}

/// Returns the threats that it claims to survive on all its stores.
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

/// Returns the threats that break it, and the step at which a fault strikes it.
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

/// Returns the steps of a purchase: a line for each store where they differ, else one line.
fn steps(row: &Row<'_>) -> Vec<String> {
    let of = |entry: &Entry| {
        let mut names: Vec<_> = Vec::new();
        for step in &entry.steps {
            if !names.contains(&step.name) {
                names.push(step.name);
            }
        }
        names.join(", ")
    };
    let first = of(row.first);
    if row.entries.iter().all(|entry| of(entry) == first) {
        return vec![first];
    }
    let lines = row.entries.iter();
    lines.map(|entry| format!("@{}: {}", entry.store, of(entry))).collect()
}

fn description(row: &Row<'_>) -> String {
    let mechanism = row.first.mechanism;
    let names: Vec<_> = row.entries.iter().map(|entry| entry.name.as_str()).collect();
    let mut facts = vec![
        ("strategies", names.join(", ")),
        ("family", mechanism.family.words().to_owned()),
        ("survives", survives(row)),
        ("broken by", broken_by(row)),
        ("needs", needs(row)),
    ];
    let labels = ["steps"].into_iter().chain(std::iter::repeat(""));
    facts.extend(labels.zip(steps(row)));
    let facts = facts
        .iter()
        .map(|(name, value)| wrapped(value, &format!("{name:<11} "), &" ".repeat(12)));
    format!(
        "{}\n\n{}\n\noversell run --strategy {}\n",
        facts.collect::<Vec<_>>().join("\n"),
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
