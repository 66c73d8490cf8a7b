//! `rounds.jsonl`: the rounds of a run that are over, until the run has its `result.json`.
//!
//! The first line is a result without rounds. Each further line is one round, with its place in the plan and the number of
//! planned rounds. A round that is judged again is appended again, and its last line counts. Each round costs the same to
//! write, however long the run is, and a killed run loses only the round that it was playing.

use std::collections::BTreeMap;
use std::fs::File;
use std::io::Write;
use std::path::Path;

use anyhow::{Context, Result, anyhow};
use loadtest::result::cell::claim_check;
use loadtest::result::{RoundResult, RunResult};
use loadtest::text::why_unreadable;
use serde::{Deserialize, Serialize};

/// The name of the file in the folder of the run.
pub const NAME: &str = "rounds.jsonl";

/// The file, during its run.
pub struct RoundsFile(File);

/// A line after the first. A reader owns the round, a writer borrows it.
#[derive(Serialize, Deserialize)]
struct Line<R> {
    place: usize,
    planned: usize,
    round: R,
}

impl RoundsFile {
    /// Begins the file in `folder` with `run`, without its rounds.
    ///
    /// # Errors
    /// When the file is there already or cannot be written.
    pub fn create(folder: &Path, run: &RunResult) -> Result<Self> {
        let path = folder.join(NAME);
        let file = File::create_new(&path).with_context(|| format!("cannot make {}", path.display()))?;
        let mut rounds = Self(file);
        rounds.append_line(&RunResult {
            rounds: Vec::new(),
            ..run.clone()
        })?;
        Ok(rounds)
    }

    /// Appends the round at `place` of `planned` rounds.
    ///
    /// # Errors
    /// When it cannot be written.
    pub fn append(&mut self, place: usize, planned: usize, round: &RoundResult) -> Result<()> {
        self.append_line(&Line { place, planned, round })
    }

    fn append_line(&mut self, line: &impl Serialize) -> Result<()> {
        let mut text = serde_json::to_vec(line).context("a round cannot be written as JSON")?;
        text.push(b'\n');
        // One call without a buffer: written bytes outlive this process.
        self.0
            .write_all(&text)
            .with_context(|| format!("cannot write {NAME} of this run"))
    }
}

/// Reads the run as it was when its program was killed.
///
/// # Errors
/// When a whole line is no round, or a round disagrees with itself.
pub fn assemble(text: &[u8]) -> Result<RunResult> {
    let mut lines = text.split_inclusive(|byte| *byte == b'\n').enumerate();
    let (_, first) = lines.next().context("it is empty")?;
    let mut run = RunResult::parse(first)?;
    let (mut planned, mut rounds) = (0, BTreeMap::new());
    // A line without an end was cut off when the program was killed.
    for (number, line) in lines.filter(|(_, line)| line.ends_with(b"\n")) {
        let line: Line<RoundResult> = serde_json::from_slice(line)
            .map_err(|error| anyhow!("line {} is no round: {}", number + 1, why_unreadable(&error)))?;
        planned = line.planned;
        rounds.insert(line.place, line.round);
    }
    run.rounds = rounds.into_values().collect();
    run.ended_early = Some(format!(
        "after {} of {planned} rounds: it was cut off",
        run.rounds.len()
    ));
    run.as_designed = claim_check(&run).as_designed();
    run.check()?;
    Ok(run)
}

#[cfg(test)]
#[allow(clippy::unwrap_used, reason = "a test that fails may panic")]
mod tests {
    use std::fs;

    use super::*;

    const RESULT: &[u8] = include_bytes!("../../loadtest/tests/judging/expected/result.json");

    /// Returns a file whose first round ended after the second and was judged again, and its run.
    fn written() -> (Vec<u8>, RunResult) {
        let (folder, mut run) = (tempfile::tempdir().unwrap(), RunResult::parse(RESULT).unwrap());
        // As in a run that goes on.
        run.as_designed = None;
        let mut file = RoundsFile::create(folder.path(), &run).unwrap();
        let mut earlier = run.rounds[0].clone();
        earlier.sales_per_s += 1.0;
        file.append(7, 9, &run.rounds[1]).unwrap();
        file.append(0, 9, &earlier).unwrap();
        file.append(0, 9, &run.rounds[0]).unwrap();
        (fs::read(folder.path().join(NAME)).unwrap(), run)
    }

    #[test]
    fn rounds_come_in_the_order_of_the_plan_the_last_line_of_each_counts_and_the_run_ended_early() {
        let (text, run) = written();
        let assembled = assemble(&text).unwrap();
        let expected = RunResult {
            rounds: run.rounds[..2].to_vec(),
            ended_early: Some("after 2 of 9 rounds: it was cut off".to_owned()),
            as_designed: assembled.as_designed,
            ..run
        };
        let json = |run: &RunResult| serde_json::to_value(run).unwrap();
        assert_eq!(json(&assembled), json(&expected));
        assert_ne!(assembled.as_designed, Some(true));
    }

    #[test]
    fn a_line_that_was_cut_off_is_left_out_and_no_other_one() {
        let (text, _) = written();
        for cut in 1..20 {
            let assembled = assemble(&text[..text.len() - cut]).unwrap();
            assert_eq!(assembled.rounds.len(), 2, "{cut} bytes fewer");
        }
        let broken = [&text[..], b"{\n"].concat();
        assert!(assemble(&broken).unwrap_err().to_string().contains("line 5"));
        assert!(assemble(b"").is_err());
    }
}
