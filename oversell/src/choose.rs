//! `oversell choose`: which strategy holds under the named threats, and what it costs, answered from a saved result.

use std::fs;
use std::path::{Path, PathBuf};

use anyhow::Result;
use app::strategies::Entry;
use loadtest::report::json as in_json;
use loadtest::result::RunResult;
use loadtest::result::choice::{Candidate, Choice, Stores, choose as answer, threats_of};
use serde_json::json;

use crate::console;
use crate::exit::{AS_DESIGNED, NOT_AS_DESIGNED, Usage};
use crate::options::ChooseOptions;
use crate::report::read;

/// Prints the answers.
pub fn choose(options: &ChooseOptions) -> Result<u8> {
    let places = match &options.result {
        Some(place) => vec![place.clone()],
        None => newest_matrix(Path::new("results"))?,
    };
    let mut parts = places.iter().map(|place| read(place)).collect::<Result<Vec<_>>>()?;
    let mut run = parts.remove(0);
    run.rounds.extend(parts.into_iter().flat_map(|part| part.rounds));
    let choices = choices(&run, options)?;
    let text = if options.json {
        let choices: Vec<_> = choices.iter().map(as_json).collect();
        in_json(&json!({"results": places, "choices": choices}))
    } else {
        let parts = choices.iter().map(|choice| shown(choice, &options.survive));
        let from = places.iter().map(|place| console::path(place)).collect::<Vec<_>>();
        let from = format!("From {}. A clean round is no proof.\n", from.join(" and "));
        parts.chain([from]).collect::<Vec<_>>().join("\n")
    };
    console::print(&text)?;
    let holds = choices.iter().any(|choice| !choice.holds.is_empty());
    Ok(if holds { AS_DESIGNED } else { NOT_AS_DESIGNED })
}

fn choices(run: &RunResult, options: &ChooseOptions) -> Result<Vec<Choice>> {
    let usage = |error: anyhow::Error| Usage(format!("{error:#}"));
    let mut survive = Vec::new();
    for word in &options.survive {
        for threat in threats_of(word).map_err(usage)? {
            if !survive.contains(&threat) {
                survive.push(threat);
            }
        }
    }
    let stores = options
        .stores
        .map_or_else(|| Stores::of_run(run), |stores| vec![stores.into()]);
    let mut choices = Vec::new();
    for stores in stores {
        choices.push(answer(run, stores, &survive).map_err(usage)?);
    }
    Ok(choices)
}

/// The newest committed run of the whole matrix, whose name begins with its date; then those of the further parts that are there.
fn newest_matrix(results: &Path) -> Result<Vec<PathBuf>, Usage> {
    let newest = |ending: &str| {
        let folders = fs::read_dir(results).into_iter().flatten().flatten();
        let folders = folders.map(|entry| entry.path());
        let is_part = |folder: &PathBuf| {
            let name = folder.file_name().and_then(|name| name.to_str());
            name.is_some_and(|name| name.ends_with(ending)) && folder.join("result.json").is_file()
        };
        folders.filter(is_part).max()
    };
    let first = newest("-matrix").ok_or_else(|| {
        Usage(format!(
            "there is no {}/*-matrix here: name a result, such as oversell choose path/to/a/run",
            results.display()
        ))
    })?;
    let further = (2..).map_while(|part| newest(&format!("-matrix-{part}")));
    Ok([first].into_iter().chain(further).collect())
}

fn as_json(choice: &Choice) -> serde_json::Value {
    let mut value = json!(choice);
    for kind in ["holds", "useless"] {
        for candidate in value[kind].as_array_mut().into_iter().flatten() {
            candidate["also_needs"] = json!(also_needs(candidate["strategy"].as_str().unwrap_or_default()));
        }
    }
    value
}

/// The services that a strategy needs besides the stores in its name.
fn also_needs(strategy: &str) -> Vec<&'static str> {
    let entries = Entry::all();
    let Some(entry) = entries.into_iter().find(|entry| entry.name == strategy) else {
        return Vec::new();
    };
    let is_other = |need: &&str| !entry.store.split('+').any(|store| store == *need);
    entry.needs.iter().copied().filter(is_other).collect()
}

fn shown(choice: &Choice, survive: &[String]) -> String {
    let stores = match choice.stores {
        Stores::Redis => "Stock and orders in Redis",
        Stores::Sql => "Stock and orders in MariaDB",
        Stores::Pg => "Stock and orders in PostgreSQL",
        Stores::Cluster => "Stock and orders in a Redis Cluster",
        Stores::Both => "Stock in Redis, orders in MariaDB",
    };
    let mut parts = vec![format!("{stores}; holds under {}:\n", survive.join(", "))];
    if choice.holds.is_empty() {
        parts.push("  None.\n".to_owned());
    } else {
        parts.push(table(&choice.holds));
        parts.push(compared(&choice.holds));
        parts.push(losing(&choice.holds));
    }
    if !choice.useless.is_empty() {
        parts.push("\nHolds, but is useless: it sells less than a hundredth of the fastest one.\n".to_owned());
        parts.push(table(&choice.useless));
    }
    for (strategies, why) in [
        (
            &choice.data_loss,
            "Broken only by their store, which lost data that it had confirmed",
        ),
        (&choice.fails, "Fail"),
        (&choice.untested, "Not put to the test"),
    ] {
        if !strategies.is_empty() {
            let names = textwrap::fill(
                &strategies.join(", "),
                textwrap::Options::new(80)
                    .initial_indent("  ")
                    .subsequent_indent("  ")
                    .word_splitter(textwrap::WordSplitter::NoHyphenation),
            );
            parts.push(format!("\n{why} ({}):\n{names}\n", strategies.len()));
        }
    }
    parts.concat()
}

/// One line for each strategy, at most 80 columns while the notes are short.
fn table(candidates: &[Candidate]) -> String {
    let width = candidates
        .iter()
        .map(|candidate| candidate.strategy.len())
        .max()
        .unwrap_or(0);
    let head = format!(
        "  {:<width$} {:>8} {:>9} {:>8}  {}\n",
        "", "sales/s", "median ms", "p99 ms", "note"
    );
    let lines = candidates.iter().map(|candidate| {
        let line = format!(
            "  {:<width$} {:>8} {:>9.1} {:>8.1}  {}",
            candidate.strategy,
            figure(candidate.sales_per_s),
            candidate.median_ms,
            candidate.p99_ms,
            note(candidate)
        );
        format!("{}\n", line.trim_end())
    });
    [head].into_iter().chain(lines).collect()
}

/// What the reader did not ask about: other services that it needs, and other threats that break it.
fn note(candidate: &Candidate) -> String {
    let needs = also_needs(&candidate.strategy);
    let notes = [("needs ", &needs), ("fails under ", &candidate.fails_under)];
    let notes = notes.into_iter().filter(|(_, names)| !names.is_empty());
    let notes: Vec<String> = notes
        .map(|(what, names)| format!("{what}{}", names.join(", ")))
        .collect();
    notes.join("; ")
}

/// The strategies that a threat outside of the question breaks, because their store loses data under it.
fn losing(candidates: &[Candidate]) -> String {
    let losing = || {
        candidates
            .iter()
            .filter(|candidate| !candidate.data_loss_under.is_empty())
    };
    let Some(first) = losing().next() else {
        return String::new();
    };
    let threats = first.data_loss_under.join(", ");
    let names: Vec<_> = losing().map(|candidate| candidate.strategy.as_str()).collect();
    let names = if names.len() == candidates.len() {
        "all of these".to_owned()
    } else {
        names.join(", ")
    };
    format!("A store loses data under {threats}: that breaks {names}.\n")
}

/// How much faster the first one is.
fn compared(candidates: &[Candidate]) -> String {
    let [first, next, ..] = candidates else {
        return String::new();
    };
    let times = |other: &Candidate| first.sales_per_s / other.sales_per_s;
    let next = format!(
        "{} is {:.1} times as fast as {}, the next",
        first.strategy,
        times(next),
        next.strategy
    );
    match candidates.last() {
        Some(last) if candidates.len() > 2 => {
            format!(
                "{next}, and {:.1} times as fast as {}, the slowest.\n",
                times(last),
                last.strategy
            )
        }
        _ => format!("{next}.\n"),
    }
}

/// With no more digits than anybody reads.
fn figure(figure: f64) -> String {
    if figure < 10.0 {
        format!("{figure:.1}")
    } else {
        format!("{figure:.0}")
    }
}
