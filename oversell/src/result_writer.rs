//! Writes each round of a run as soon as it is over, and shows the progress of the run.

use std::fs;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Mutex, PoisonError};

use anyhow::{Context, Error, Result};
use loadtest::experiment::{RunObserver, Standing};
use loadtest::plan::Round;
use loadtest::report;
use loadtest::result::{RoundResult, RunResult};
use loadtest::trace::RawTrace;

use crate::progress::Progress;
use crate::rounds_file::{self, RoundsFile};
use crate::run_folder;
use crate::traces_folder::TracesFolder;

/// The most sales that stay open and are named.
const MOST_NAMED: usize = 3;

/// The folder of one run, and its progress on stderr.
pub struct ResultWriter {
    folder: PathBuf,
    /// Opened with the first round that is kept.
    rounds: Mutex<Option<RoundsFile>>,
    planned: AtomicUsize,
    traces: TracesFolder,
    progress: Progress,
}

impl ResultWriter {
    /// Makes a new folder below `results`, named after `run_id`. Two runs that began at one moment get one each.
    ///
    /// # Errors
    /// When it cannot be made, which had better be known before the run.
    pub fn new(results: &Path, run_id: &str, quiet: bool) -> Result<Self> {
        let folder = run_folder::new(results, run_id)?;
        Ok(Self {
            traces: TracesFolder::of(&folder),
            folder,
            rounds: Mutex::default(),
            planned: AtomicUsize::default(),
            progress: Progress::new(quiet),
        })
    }

    /// Returns the folder of the results.
    pub fn folder(&self) -> &Path {
        &self.folder
    }

    /// Removes the progress bar, and the folder if it is empty.
    pub fn clear(&self) {
        self.progress.clear();
        // A folder with results is not empty, and stays.
        let _ = fs::remove_dir(&self.folder);
    }

    /// Replaces a file as a whole, so that no reader sees half a result.
    fn keep(&self, name: &str, text: &str) -> Result<()> {
        let (path, new) = (self.folder.join(name), self.folder.join(format!(".{name}.new")));
        fs::write(&new, text)
            .and_then(|()| fs::rename(&new, &path))
            .with_context(|| format!("cannot write {}", path.display()))
    }
}

impl RunObserver for ResultWriter {
    fn begins(&self, round: &Round, standing: Standing) {
        let trial = round.threat.title_on(round.instances);
        self.planned.store(standing.all, Ordering::Relaxed);
        let line = format!("repeat {}: {trial}", round.repeat);
        self.progress
            .begins(standing, &line, format!("{} ({trial})", round.strategy.name));
    }

    fn begins_final_checks(&self, sales: usize) {
        self.progress.says(format!("reading {sales} ledgers once more"));
    }

    fn leaves_open(&self, sales: &[(String, Error)]) {
        let named = sales.iter().take(MOST_NAMED);
        let named: Vec<String> = named.map(|(item, error)| format!("{item}: {error:#}")).collect();
        let more = match sales.len() - named.len() {
            0 => String::new(),
            more => format!("; and {more} more"),
        };
        let line = format!(
            "these sales could not be closed and stay open: {}{more}",
            named.join("; ")
        );
        self.progress.warns(&line);
    }

    fn keeps_round(&self, run: &RunResult, place: usize, round: &RoundResult) -> Result<()> {
        let mut rounds = self.rounds.lock().unwrap_or_else(PoisonError::into_inner);
        let file = match rounds.as_mut() {
            Some(file) => file,
            None => rounds.insert(RoundsFile::create(&self.folder, run)?),
        };
        file.append(place, self.planned.load(Ordering::Relaxed), round)
    }

    fn keeps_traces(&self, place: usize, traces: &[RawTrace]) {
        for trace in traces {
            if let Err(error) = self.traces.keep(place, trace) {
                self.progress.warns(&format!("a trace could not be kept: {error}"));
            }
        }
    }

    fn keeps_run(&self, run: &RunResult) -> Result<()> {
        for report in report::all() {
            self.keep(report.file_name(), &report.render(run))?;
        }
        let rounds = self.folder.join(rounds_file::NAME);
        fs::remove_file(&rounds).with_context(|| format!("cannot remove {}", rounds.display()))
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used, reason = "a test that fails may panic")]
mod tests {
    use std::fs;

    use loadtest::experiment::RunObserver;
    use loadtest::result::RunResult;

    use super::ResultWriter;

    const RESULT: &[u8] = include_bytes!("../../loadtest/tests/judging/expected/result.json");

    /// Returns the bytes that this thread has written so far, to any file.
    #[cfg(target_os = "linux")]
    fn written() -> usize {
        let counted = fs::read_to_string("/proc/thread-self/io").unwrap();
        let line = counted.lines().find_map(|line| line.strip_prefix("wchar: "));
        line.unwrap().parse().unwrap()
    }

    #[test]
    #[cfg(target_os = "linux")]
    fn a_round_late_in_a_run_costs_as_many_bytes_as_an_early_one() {
        let results = tempfile::tempdir().unwrap();
        let writer = ResultWriter::new(results.path(), "run", true).unwrap();
        let run = RunResult::parse(RESULT).unwrap();
        writer.keeps_round(&run, 0, &run.rounds[0]).unwrap();
        let mut costs = Vec::new();
        for place in 1..10 {
            let before = written();
            writer.keeps_round(&run, place, &run.rounds[0]).unwrap();
            costs.push(written() - before);
        }
        assert_eq!(costs, [costs[0]; 9]);
        assert!(costs[0] > 0);
    }

    #[test]
    fn what_was_kept_round_by_round_goes_when_the_whole_result_is_there() {
        let results = tempfile::tempdir().unwrap();
        let writer = ResultWriter::new(results.path(), "run", true).unwrap();
        let run = RunResult::parse(RESULT).unwrap();
        let names = || {
            let listed = fs::read_dir(writer.folder()).unwrap();
            let mut names: Vec<_> = listed.map(|file| file.unwrap().file_name()).collect();
            names.sort();
            names
        };
        writer.keeps_round(&run, 0, &run.rounds[0]).unwrap();
        assert_eq!(names(), ["rounds.jsonl"]);
        writer.keeps_run(&run).unwrap();
        assert_eq!(names(), ["result.html", "result.json", "result.md"]);
    }

    #[test]
    fn two_runs_that_began_in_the_same_millisecond_have_a_folder_each() {
        let results = tempfile::tempdir().unwrap();
        let folders = ["run"; 3].map(|id| ResultWriter::new(results.path(), id, true).unwrap().folder().to_owned());
        let names = folders.map(|folder| folder.file_name().unwrap().to_owned());
        assert_eq!(names, ["run", "run-2", "run-3"]);
    }
}
