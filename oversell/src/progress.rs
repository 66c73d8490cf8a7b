//! How far something has come, on stderr: a bar on a terminal, lines otherwise, and nothing where silence was asked for.

use std::io::{self, IsTerminal};
use std::sync::{Mutex, PoisonError};
use std::time::Instant;

use indicatif::{ProgressBar, ProgressStyle};

use crate::say;

/// What is said of it.
pub struct Progress {
    bar: ProgressBar,
    quiet: bool,
    began: Instant,
    last_line: Mutex<String>,
}

impl Progress {
    /// Nothing is done yet.
    pub fn new(quiet: bool) -> Self {
        let bar = if io::stderr().is_terminal() && !quiet {
            ProgressBar::new(0)
        } else {
            ProgressBar::hidden()
        };
        let style = ProgressStyle::with_template("{bar:24} {pos}/{len}, {eta} left: {msg}");
        bar.set_style(style.expect("a template that is right"));
        Self {
            bar,
            quiet,
            began: Instant::now(),
            last_line: Mutex::default(),
        }
    }

    /// `done` of `all` are over, and the next one begins. The bar shows `message`; `line` is said when it is another one
    /// than before.
    pub fn begins(&self, done: usize, all: usize, line: &str, message: String) {
        self.bar.set_length(all as u64);
        self.bar.set_position(done as u64);
        self.bar.set_message(message);
        let mut last = self.last_line.lock().unwrap_or_else(PoisonError::into_inner);
        if *last != line {
            self.tell(&format!("{done}/{all} {line}{}", self.left(done, all)));
            line.clone_into(&mut last);
        }
    }

    /// Something that is done besides.
    pub fn says(&self, line: String) {
        self.tell(&line);
        self.bar.set_message(line);
    }

    /// Takes the bar away.
    pub fn clear(&self) {
        self.bar.finish_and_clear();
    }

    /// A line for whoever sees no bar and has not asked for silence.
    fn tell(&self, line: &str) {
        if self.bar.is_hidden() && !self.quiet {
            say::aside(line);
        }
    }

    /// How long the rest will take, if it goes on like this.
    fn left(&self, done: usize, all: usize) -> String {
        if done == 0 {
            return String::new();
        }
        let seconds = self.began.elapsed().as_secs_f64() / done as f64 * (all - done) as f64;
        format!(", about {seconds:.0} s left")
    }
}
