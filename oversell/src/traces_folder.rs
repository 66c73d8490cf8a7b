//! The traces of violations in the folder of a run, compressed, with a limit on their size.

use std::fs::{self, File};
use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, Ordering};

use flate2::Compression;
use flate2::write::GzEncoder;
use loadtest::trace::RawTrace;

/// The longest trace that is kept, in bytes before compression: a longer one would take seconds.
const LONGEST: usize = 8 * 1024 * 1024;

/// The most bytes of all traces of a run, after compression.
const MOST: u64 = 64 * 1024 * 1024;

/// The folder, which is made with the first trace.
pub struct TracesFolder {
    folder: PathBuf,
    kept: AtomicU64,
}

impl TracesFolder {
    /// Names the folder in that of a run.
    pub fn of(run: &Path) -> Self {
        Self {
            folder: run.join("traces"),
            kept: AtomicU64::new(0),
        }
    }

    /// Keeps a trace of the round at `place` of the plan, as `0012-app-1.json.gz`. Leaves it out where it is too long or there is
    /// no room left.
    ///
    /// # Errors
    /// When it cannot be written.
    pub fn keep(&self, place: usize, trace: &RawTrace) -> io::Result<()> {
        if trace.json.len() > LONGEST || self.kept.load(Ordering::Relaxed) >= MOST {
            return Ok(());
        }
        fs::create_dir_all(&self.folder)?;
        // A shop may give its instances any names.
        let is_plain = |letter: char| letter.is_ascii_alphanumeric() || "-_".contains(letter);
        let instance = trace.instance.replace(|letter| !is_plain(letter), "_");
        let path = self.folder.join(format!("{place:04}-{instance:.64}.json.gz"));
        let mut file = GzEncoder::new(File::create(path)?, Compression::fast());
        file.write_all(&trace.json)?;
        let written = file.finish()?.metadata()?.len();
        self.kept.fetch_add(written, Ordering::Relaxed);
        Ok(())
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used, reason = "a test that fails may panic")]
mod tests {
    use std::io::Read;

    use flate2::read::GzDecoder;

    use super::*;

    #[test]
    fn a_trace_is_kept_as_it_came_in_a_file_of_the_folder_whatever_the_name_of_its_instance() {
        let run = tempfile::tempdir().unwrap();
        let traces = TracesFolder::of(run.path());
        let trace = RawTrace {
            instance: "../../app 1".to_owned(),
            json: b"{\"events\":[]}".to_vec(),
        };
        traces.keep(7, &trace).unwrap();
        let file = File::open(run.path().join("traces/0007-______app_1.json.gz")).unwrap();
        let mut json = Vec::new();
        GzDecoder::new(file).read_to_end(&mut json).unwrap();
        assert_eq!(json, trace.json);
    }

    #[test]
    fn a_trace_that_is_too_long_or_comes_when_there_is_no_room_is_left_out() {
        let run = tempfile::tempdir().unwrap();
        let traces = TracesFolder::of(run.path());
        let mut trace = RawTrace {
            instance: "app-1".to_owned(),
            json: vec![b' '; LONGEST + 1],
        };
        traces.keep(1, &trace).unwrap();
        trace.json.clear();
        traces.kept.store(MOST, Ordering::Relaxed);
        traces.keep(2, &trace).unwrap();
        assert!(!run.path().join("traces").exists());
    }
}
