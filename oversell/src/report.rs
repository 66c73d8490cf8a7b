//! `oversell report`: shows a saved result again.

use std::fs;
use std::path::Path;

use anyhow::{Context, Result};
use loadtest::audit::Verdict;
use loadtest::report::terminal_summary::screen;
use loadtest::report::{self, charts};
use loadtest::result::RunResult;

use crate::documents::{known, put_into};
use crate::exit::{AS_DESIGNED, NOT_AS_DESIGNED, Usage};
use crate::options::{CompareOptions, ReportOptions};
use crate::stdout::Terminal;
use crate::{rounds_file, say};

/// Renders the result, onto stdout, into a Markdown file or as charts.
pub fn report(options: &ReportOptions) -> Result<u8> {
    let run = read(&options.result)?;
    match (&options.into, &options.charts) {
        (Some(file), _) => put_into(file, &run, &options.result)?,
        (None, Some(folder)) => draw_into(folder, &run)?,
        (None, None) if options.story => say::result(&report::stories(&run))?,
        (None, None) => {
            let form = Form::of(options.json, options.verbose, Terminal::of_stdout());
            say::result(&shown(&run, form, &options.result))?;
        }
    }
    Ok(AS_DESIGNED)
}

/// Prints what changed from one result to another; the status says whether a verdict did.
pub fn compare(options: &CompareOptions) -> Result<u8> {
    let comparison = loadtest::result::compare::compare(&read(&options.before)?, &read(&options.after)?);
    say::result(&comparison.text)?;
    Ok(if comparison.has_changed {
        NOT_AS_DESIGNED
    } else {
        AS_DESIGNED
    })
}

/// How a run is printed.
#[derive(Clone, Copy)]
pub enum Form {
    /// One screen, in colour or not, for whoever looks on.
    Screen { colour: bool },
    /// All of it, for files and pipes.
    Markdown,
    /// All of it, for machines.
    Json,
}

impl Form {
    /// What was asked for, and else what suits the place where it is printed.
    pub fn of(json: bool, verbose: bool, stdout: Terminal) -> Self {
        match (json, verbose, stdout) {
            (true, ..) => Self::Json,
            (false, false, Terminal::Colour) => Self::Screen { colour: true },
            (false, false, Terminal::Plain) => Self::Screen { colour: false },
            (false, ..) => Self::Markdown,
        }
    }
}

/// A run as it is printed; what stands on a screen ends with how to see more of what is kept in `place`.
pub fn shown(run: &RunResult, form: Form, place: &Path) -> String {
    let file = |name: &str| {
        let reports = report::all();
        let report = reports.iter().find(|report| report.file_name() == name);
        report.map_or(String::new(), |report| report.render(run))
    };
    match form {
        Form::Json => file("result.json"),
        Form::Markdown => file("result.md"),
        Form::Screen { colour } => screen(run, colour) + &next(run, place),
    }
}

/// Where to go from here.
fn next(run: &RunResult, place: &Path) -> String {
    let (program, place) = (say::program(), place.display());
    let mut commands = Vec::new();
    if run.rounds.iter().any(|round| round.story.is_some()) {
        commands.push(format!("  {program} report {place} --story"));
    }
    commands.push(format!("  {program} report {place} --verbose"));
    let mut failed = run.rounds.iter().filter(|round| round.verdict == Verdict::Violated);
    let ours = failed.find(|round| known(&round.strategy).is_some());
    if let Some(mechanism) = ours.and_then(|round| round.strategy.split('@').next()) {
        commands.push(format!("  {program} strategies {mechanism}"));
    }
    format!(
        "\nHow it came about, every trial, and how a mechanism works:\n{}\n",
        commands.join("\n")
    )
}

/// Reads a result, or what there is of a run that was killed.
pub fn read(path: &Path) -> Result<RunResult> {
    let (result, rounds) = (path.join("result.json"), path.join(rounds_file::NAME));
    if !path.is_dir() {
        parsed(path, RunResult::parse)
    } else if rounds.exists() && !result.exists() {
        parsed(&rounds, rounds_file::assemble)
    } else {
        parsed(&result, RunResult::parse)
    }
}

fn parsed(path: &Path, parse: impl FnOnce(&[u8]) -> Result<RunResult>) -> Result<RunResult> {
    let text = fs::read(path).map_err(|error| Usage(format!("cannot read {}: {error}", path.display())))?;
    parse(&text).map_err(|error| Usage(format!("{}: {error:#}", path.display())).into())
}

/// Writes every chart of a run into `folder`, which is made if it is not there.
fn draw_into(folder: &Path, run: &RunResult) -> Result<()> {
    fs::create_dir_all(folder).with_context(|| format!("cannot create {}", folder.display()))?;
    for chart in charts::all() {
        let file = folder.join(chart.file_name());
        fs::write(&file, chart.draw(run)).with_context(|| format!("cannot write {}", file.display()))?;
    }
    Ok(())
}
