//! `oversell report`: shows a saved result again.

use std::fs;
use std::path::Path;

use anyhow::{Context, Result};
use loadtest::report;
use loadtest::result::RunResult;

use crate::exit::{AS_DESIGNED, Usage};
use crate::options::ReportOptions;
use crate::say;

const BEGIN: &str = "<!-- results -->";
const END: &str = "<!-- /results -->";

/// Renders the result, onto stdout or into a Markdown file.
pub fn report(options: &ReportOptions) -> Result<u8> {
    let run = read(&options.result)?;
    match &options.into {
        Some(file) => put_into(file, &report::matrix(&run))?,
        None if options.story => say::result(&report::stories(&run))?,
        None => say::result(&rendered(&run, options.json))?,
    }
    Ok(AS_DESIGNED)
}

/// A run as it is printed.
pub fn rendered(run: &RunResult, json: bool) -> String {
    let wanted = if json { "result.json" } else { "result.md" };
    let reports = report::all();
    let report = reports.iter().find(|report| report.file_name() == wanted);
    report.map_or(String::new(), |report| report.render(run))
}

fn read(path: &Path) -> Result<RunResult> {
    let path = if path.is_dir() { &path.join("result.json") } else { path };
    let text = fs::read(path).map_err(|error| Usage(format!("cannot read {}: {error}", path.display())))?;
    RunResult::parse(&text).map_err(|error| Usage(format!("{}: {error:#}", path.display())).into())
}

/// Replaces what stands between the marks of `file`.
fn put_into(file: &Path, table: &str) -> Result<()> {
    let old = fs::read_to_string(file).with_context(|| format!("cannot read {}", file.display()))?;
    let parts = old
        .split_once(BEGIN)
        .and_then(|(head, rest)| Some((head, rest.split_once(END)?.1)));
    let (head, tail) = parts.ok_or_else(|| Usage(format!("{} has no lines {BEGIN} and {END}", file.display())))?;
    fs::write(file, format!("{head}{BEGIN}\n\n{table}\n\n{END}{tail}"))
        .with_context(|| format!("cannot write {}", file.display()))
}
