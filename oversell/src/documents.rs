//! The generated parts of documents, each between marks such as `<!-- results -->` and `<!-- /results -->`.

use std::collections::HashMap;
use std::fs;
use std::path::{Component, Path};
use std::sync::LazyLock;

use anyhow::{Context, Result};
use app::strategies::Entry;
use loadtest::report::{self, Language};
use loadtest::result::RunResult;

use crate::console;
use crate::exit::Usage;

/// Writes a part from a run that is kept in the named place.
type Part = fn(&RunResult, &str) -> String;

/// Every part with its mark.
const PARTS: [(&str, Part); 8] = [
    ("results", |run, place| report::overview(run, Language::English, place)),
    ("results-zh", |run, place| {
        report::overview(run, Language::Chinese, place)
    }),
    ("choices", |run, _| report::choices(run, Language::English)),
    ("choices-zh", |run, _| report::choices(run, Language::Chinese)),
    ("matrix", |run, place| report::page(run, known, place)),
    ("strategies", |_, _| strategies()),
    ("labs", |_, _| labs(workshop::Language::English)),
    ("labs-zh", |_, _| labs(workshop::Language::Chinese)),
];

/// Replaces the text between the marks of `file` for each part that has marks there.
pub fn put_into(file: &Path, run: &RunResult, result: &Path) -> Result<()> {
    let mut text = fs::read_to_string(file).with_context(|| format!("cannot read {}", file.display()))?;
    let place = seen_from(file, result);
    let mut has_marks = false;
    for (mark, part) in PARTS {
        let (begin, end) = (format!("<!-- {mark} -->"), format!("<!-- /{mark} -->"));
        let around = text
            .split_once(&begin)
            .and_then(|(head, rest)| Some((head, rest.split_once(&end)?.1)));
        if let Some((head, tail)) = around {
            text = format!("{head}{begin}\n{}\n{end}{tail}", part(run, &place));
            has_marks = true;
        }
    }
    if !has_marks {
        let marks = PARTS.map(|(mark, _)| mark).join(", ");
        let file = file.display();
        return Err(Usage(format!(
            "{file} has no part between <!-- NAME --> and <!-- /NAME -->: {marks}"
        ))
        .into());
    }
    fs::write(file, text).with_context(|| format!("cannot write {}", file.display()))
}

/// Where one of our own strategies stands in the catalogue, and its kind of mechanism.
pub fn known(strategy: &str) -> Option<(usize, &'static str)> {
    // A report asks for each pair of strategies that it sorts.
    static KNOWN: LazyLock<HashMap<String, (usize, &str)>> = LazyLock::new(|| {
        let entries = Entry::all().into_iter().enumerate();
        let known = entries.map(|(place, entry)| (entry.name, (place, entry.mechanism.family.words())));
        known.collect()
    });
    KNOWN.get(strategy).copied()
}

/// The folder of a result as the document links to it.
fn seen_from(document: &Path, result: &Path) -> String {
    let folder = if result.is_dir() { Some(result) } else { result.parent() };
    let folder = folder
        .filter(|folder| !folder.as_os_str().is_empty())
        .unwrap_or(Path::new("."));
    let up = match document.parent() {
        Some(parent) if folder.is_relative() && document.is_relative() => parent
            .components()
            .filter(|part| matches!(part, Component::Normal(_)))
            .count(),
        _ => 0,
    };
    format!("{}{}", "../".repeat(up), console::path(folder))
}

/// Every mechanism, by kind.
fn strategies() -> String {
    let entries = Entry::all();
    let mut families = Vec::new();
    for entry in &entries {
        if !families.contains(&entry.mechanism.family) {
            families.push(entry.mechanism.family);
        }
    }
    let parts = families.iter().map(|family| {
        let mut lines: Vec<(&str, String, &str)> = Vec::new();
        for entry in entries.iter().filter(|entry| entry.mechanism.family == *family) {
            let (name, store) = (entry.mechanism.name, format!(" @{}", entry.store));
            match lines.iter_mut().find(|(known, ..)| *known == name) {
                Some((_, stores, _)) => *stores += &store,
                None => lines.push((name, store, entry.mechanism.summary)),
            }
        }
        let lines = lines
            .iter()
            .map(|(name, stores, summary)| format!("- `{name}{stores}`: {summary}\n"));
        let words = family.words();
        format!(
            "## {}{}\n\n{}",
            words[..1].to_uppercase(),
            &words[1..],
            lines.collect::<String>()
        )
    });
    parts.collect::<Vec<_>>().join("\n").trim_end().to_owned()
}

/// Every lab, with a link to its page.
fn labs(language: workshop::Language) -> String {
    let head = language.of("lab | minutes | 90-minute path", "实验 | 分钟 | 90 分钟路线");
    let mut text = format!("| {head} |\n|---|---|---|\n");
    for lab in workshop::all().unwrap_or_default() {
        let (title, minutes) = (&lab.page(language).title, lab.settings.minutes);
        let short = if lab.settings.is_short { "✓" } else { "" };
        text += &format!("| [{} {title}]({}.md) | {minutes} | {short} |\n", lab.nn(), lab.name);
    }
    text.trim_end().to_owned()
}
