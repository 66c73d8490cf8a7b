//! A change of what a relay does, as a value that can travel.

use std::fmt;
use std::str::FromStr;
use std::time::Duration;

use anyhow::{Context, Error, Result, bail};

use super::treatment::{Direction, Treatment};

/// A change of what a relay does with the bytes that it receives.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Change {
    /// Everything passes at once.
    Pass,
    /// The bytes of this direction come so much later.
    Delay(Direction, Duration),
    /// Nothing passes.
    Silence,
    /// Nothing passes on the connections that exist now.
    SilenceOpen,
    /// Replies are dropped.
    LoseReplies,
    /// Requests are kept.
    KeepRequests,
    /// Every connection is closed.
    Cut,
}

impl Change {
    /// Makes the change, where so many connections were accepted so far.
    pub(super) fn make(self, now: &mut Treatment, accepted: u64) {
        match self {
            Change::Pass => *now = now.passing(),
            Change::Delay(direction, by) => *now.delay_mut(direction) = by,
            Change::Silence => now.silent_below = u64::MAX,
            Change::SilenceOpen => now.silent_below = accepted,
            Change::LoseReplies => now.loses_replies = true,
            Change::KeepRequests => now.keeps_requests = true,
            Change::Cut => now.cuts += 1,
        }
    }
}

impl fmt::Display for Change {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Change::Pass => f.write_str("pass"),
            Change::Delay(Direction::ToStore, by) => write!(f, "delay-requests {}", by.as_micros()),
            Change::Delay(Direction::FromStore, by) => write!(f, "delay-replies {}", by.as_micros()),
            Change::Silence => f.write_str("silence"),
            Change::SilenceOpen => f.write_str("silence-open"),
            Change::LoseReplies => f.write_str("lose-replies"),
            Change::KeepRequests => f.write_str("keep-requests"),
            Change::Cut => f.write_str("cut"),
        }
    }
}

impl FromStr for Change {
    type Err = Error;

    /// Reads what [`Change`] prints.
    fn from_str(text: &str) -> Result<Change> {
        let by = |us: &str| {
            us.parse()
                .map(Duration::from_micros)
                .context("no number of microseconds")
        };
        Ok(match text.split_once(' ') {
            None if text == "pass" => Change::Pass,
            None if text == "silence" => Change::Silence,
            None if text == "silence-open" => Change::SilenceOpen,
            None if text == "lose-replies" => Change::LoseReplies,
            None if text == "keep-requests" => Change::KeepRequests,
            None if text == "cut" => Change::Cut,
            Some(("delay-requests", us)) => Change::Delay(Direction::ToStore, by(us)?),
            Some(("delay-replies", us)) => Change::Delay(Direction::FromStore, by(us)?),
            _ => bail!("no change of a relay"),
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_change_is_read_as_it_was_printed() {
        let by = Duration::from_micros(5_000);
        let all = [
            Change::Pass,
            Change::Delay(Direction::ToStore, by),
            Change::Delay(Direction::FromStore, by),
            Change::Silence,
            Change::SilenceOpen,
            Change::LoseReplies,
            Change::KeepRequests,
            Change::Cut,
        ];
        for change in all {
            assert_eq!(change.to_string().parse::<Change>().unwrap(), change);
        }
        for wrong in ["", "delay-requests", "delay-replies x", "pass 1", "PASS"] {
            assert!(wrong.parse::<Change>().is_err(), "{wrong}");
        }
    }
}
