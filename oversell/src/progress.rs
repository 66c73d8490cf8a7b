//! Progress on stderr: a bar on a terminal, lines elsewhere, nothing with `--quiet`.

use std::io::{self, IsTerminal};
use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant};

use indicatif::{ProgressBar, ProgressStyle};
use loadtest::experiment::Standing;

use crate::console;

/// The longest time without a line, where there is no bar and rounds begin.
const LINE_EVERY: Duration = Duration::from_secs(30);

/// The time before which no time left is told: the first rounds say little about the pace.
const PACE_AFTER: Duration = Duration::from_secs(5);

/// The progress of one command.
pub struct Progress {
    bar: ProgressBar,
    quiet: bool,
    began: Instant,
    last: Mutex<Last>,
}

/// The last line about a round.
struct Last {
    line: String,
    at: Instant,
}

impl Last {
    /// Returns whether `line` is to be printed now.
    fn is_outdated(&self, line: &str, now: Instant) -> bool {
        self.line != line || now - self.at >= LINE_EVERY
    }
}

impl Progress {
    /// Returns a progress of which nothing is done yet.
    pub fn new(quiet: bool) -> Self {
        let bar = if io::stderr().is_terminal() && !quiet {
            ProgressBar::new(0)
        } else {
            ProgressBar::hidden()
        };
        let style = ProgressStyle::with_template("{bar:24} {pos}/{len}{prefix}: {msg}");
        bar.set_style(style.expect("the template is valid"));
        Self {
            bar,
            quiet,
            began: Instant::now(),
            last: Mutex::new(Last {
                line: String::new(),
                at: Instant::now(),
            }),
        }
    }

    /// Shows how far the work is when its next part begins. The bar shows `message`; elsewhere `line` is printed when it differs
    /// from the last one, and now and then.
    pub fn begins(&self, standing: Standing, line: &str, message: String) {
        let Standing { done, all, left } = standing;
        let now = Instant::now();
        let left = time_left(now - self.began, left);
        self.bar.set_length(all as u64);
        self.bar.set_position(done as u64);
        self.bar.set_prefix(left.clone());
        self.bar.set_message(message);
        let mut last = self.last.lock().unwrap_or_else(PoisonError::into_inner);
        if last.is_outdated(line, now) {
            self.print(&format!("{done}/{all} {line}{left}"));
            *last = Last {
                line: line.to_owned(),
                at: now,
            };
        }
    }

    /// Shows a line about other work.
    pub fn says(&self, line: String) {
        self.print(&line);
        self.bar.set_message(line);
    }

    /// Prints a warning, even with `--quiet`.
    pub fn warns(&self, line: &str) {
        self.bar.suspend(|| console::note(line));
    }

    /// Removes the bar.
    pub fn clear(&self) {
        self.bar.finish_and_clear();
    }

    /// Prints a line where there is no bar, unless `--quiet` forbids it.
    fn print(&self, line: &str) {
        if self.bar.is_hidden() && !self.quiet {
            console::note(line);
        }
    }
}

/// Returns the time that is left, for the end of a line, where the work that is left is that multiple of the work of the time
/// that is over.
fn time_left(over: Duration, left: Option<f64>) -> String {
    match left.map(|left| over.as_secs_f64() * left) {
        _ if over < PACE_AFTER => String::new(),
        None => String::new(),
        Some(seconds) if seconds < 90.0 => format!(", about {seconds:.0} s left"),
        Some(seconds) => format!(", about {:.0} min left", seconds / 60.0),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_line_comes_when_another_part_begins_and_again_after_half_a_minute() {
        let at = Instant::now();
        let last = Last {
            line: "repeat 1: crowd".to_owned(),
            at,
        };
        let after = |seconds| at + Duration::from_secs(seconds);
        assert!(last.is_outdated("repeat 2: crowd", after(0)));
        assert!(!last.is_outdated("repeat 1: crowd", after(29)));
        assert!(last.is_outdated("repeat 1: crowd", after(30)));
    }

    #[test]
    fn the_time_left_follows_from_the_work_that_is_left() {
        let table = [
            (4, Some(10.0), ""),
            (10, None, ""),
            (10, Some(0.5), ", about 5 s left"),
            (10, Some(8.9), ", about 89 s left"),
            (10, Some(24.0), ", about 4 min left"),
        ];
        for (over, left, expected) in table {
            assert_eq!(
                time_left(Duration::from_secs(over), left),
                expected,
                "{over} s, {left:?}"
            );
        }
    }
}
