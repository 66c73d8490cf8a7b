//! Progress on stderr: a bar on a terminal, lines elsewhere, nothing with `--quiet`.

use std::io::{self, IsTerminal};
use std::sync::{Mutex, PoisonError};
use std::time::Instant;

use indicatif::{ProgressBar, ProgressStyle};

use crate::console;

/// The progress of one command.
pub struct Progress {
    bar: ProgressBar,
    quiet: bool,
    began: Instant,
    last_line: Mutex<String>,
}

impl Progress {
    /// Returns a progress of which nothing is done yet.
    pub fn new(quiet: bool) -> Self {
        let bar = if io::stderr().is_terminal() && !quiet {
            ProgressBar::new(0)
        } else {
            ProgressBar::hidden()
        };
        let style = ProgressStyle::with_template("{bar:24} {pos}/{len}, {eta} left: {msg}");
        bar.set_style(style.expect("the template is valid"));
        Self {
            bar,
            quiet,
            began: Instant::now(),
            last_line: Mutex::default(),
        }
    }

    /// Shows that `done` of `all` are over and the next one begins. The bar shows `message`; elsewhere `line` is printed when
    /// it differs from the last one.
    pub fn begins(&self, done: usize, all: usize, line: &str, message: String) {
        self.bar.set_length(all as u64);
        self.bar.set_position(done as u64);
        self.bar.set_message(message);
        let mut last = self.last_line.lock().unwrap_or_else(PoisonError::into_inner);
        if *last != line {
            self.print(&format!("{done}/{all} {line}{}", self.left(done, all)));
            line.clone_into(&mut last);
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

    /// Estimates the time that is left, from the pace so far.
    fn left(&self, done: usize, all: usize) -> String {
        if done == 0 {
            return String::new();
        }
        let seconds = self.began.elapsed().as_secs_f64() / done as f64 * (all - done) as f64;
        format!(", about {seconds:.0} s left")
    }
}
