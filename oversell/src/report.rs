//! `oversell report` and `oversell compare`: saved results.

use std::fs;
use std::path::Path;

use anyhow::{Context, Result};
use loadtest::audit::Verdict;
use loadtest::report::terminal_summary::{NARROWEST, screen};
use loadtest::report::{self, charts};
use loadtest::result::RunResult;

use crate::documents::{known, put_into};
use crate::exit::{AS_DESIGNED, NOT_AS_DESIGNED, Usage};
use crate::explore::page_of;
use crate::isolation;
use crate::options::{CompareOptions, ReportOptions};
use crate::stdout::Terminal;
use crate::{console, rounds_file};

/// Prints the result, fills in the generated parts of a Markdown file, or draws charts.
pub fn report(options: &ReportOptions) -> Result<u8> {
    if options.html
        && let Some(page) = page_of(&options.result)?
    {
        console::print(&page)?;
        return Ok(AS_DESIGNED);
    }
    if let Some(page) = isolation::page_of(&options.result)? {
        console::print(&page)?;
        return Ok(AS_DESIGNED);
    }
    let run = read(&options.result)?;
    match (&options.into, &options.charts) {
        (Some(file), _) => put_into(file, &run, &options.result)?,
        (None, Some(folder)) => draw_into(folder, &run)?,
        (None, None) if options.story => console::print(&report::stories(&run))?,
        (None, None) if options.html => console::print(&file("result.html", &run))?,
        (None, None) => {
            let form = Form::of(options.json, options.verbose, Terminal::of_stdout());
            console::print(&shown(&run, form, &options.result))?;
        }
    }
    Ok(AS_DESIGNED)
}

/// Prints the changes from one result to another. The status says whether a verdict changed.
pub fn compare(options: &CompareOptions) -> Result<u8> {
    let (before, after) = (read(&options.before)?, read(&options.after)?);
    let comparison = loadtest::result::compare::compare(&before, &after);
    let page = options.html.then(|| report::compared(&before, &after, &comparison));
    console::print(page.as_ref().unwrap_or(&comparison.text))?;
    Ok(if comparison.has_changed {
        NOT_AS_DESIGNED
    } else {
        AS_DESIGNED
    })
}

/// How a run is printed.
#[derive(Clone, Copy)]
pub enum Form {
    /// The summary, for a terminal of that width.
    Screen { colour: bool, width: usize },
    /// The whole result, for files and pipes.
    Markdown,
    /// The whole result, for programs.
    Json,
}

impl Form {
    /// Returns the form that was asked for, else the one that suits stdout.
    pub fn of(json: bool, verbose: bool, stdout: Terminal) -> Self {
        match (json, verbose, stdout) {
            (true, ..) => Self::Json,
            (false, false, Terminal::Shown { colour, width }) => Self::Screen { colour, width },
            (false, ..) => Self::Markdown,
        }
    }
}

/// The summary of an interrupted run, for stderr: stdout is for whole results.
pub fn of_interrupted(place: &Path) -> Result<String> {
    let form = Form::Screen {
        colour: false,
        width: NARROWEST,
    };
    Ok(shown(&read(place)?, form, place))
}

/// Returns a run as it is printed. A summary ends with the commands that show more of the result in `place`.
pub fn shown(run: &RunResult, form: Form, place: &Path) -> String {
    match form {
        Form::Json => file("result.json", run),
        Form::Markdown => file("result.md", run),
        Form::Screen { colour, width } => screen(run, colour, width) + &next(run, place),
    }
}

/// Returns the report of that name.
fn file(name: &str, run: &RunResult) -> String {
    let reports = report::all();
    let report = reports.iter().find(|report| report.file_name() == name);
    report.map_or(String::new(), |report| report.render(run))
}

/// Returns the commands that come next.
fn next(run: &RunResult, place: &Path) -> String {
    let (program, place) = (console::program(), console::path(place));
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
    format!("\nNext:\n{}\n", commands.join("\n"))
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

/// Draws every chart of a run into `folder`, which is made if needed.
fn draw_into(folder: &Path, run: &RunResult) -> Result<()> {
    fs::create_dir_all(folder).with_context(|| format!("cannot create {}", folder.display()))?;
    for chart in charts::all() {
        let file = folder.join(chart.file_name());
        fs::write(&file, chart.draw(run)).with_context(|| format!("cannot write {}", file.display()))?;
    }
    Ok(())
}
