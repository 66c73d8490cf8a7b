//! The findings of searches as a table: a row for each strategy and each kind of event.

use std::fmt::Write;
use std::fs;
use std::path::Path;
use std::time::{Duration, Instant};

use anyhow::{Context, Result};
use explore::{Bounds, EventKind, Found, Player, Schedule, search};
use serde::Serialize;

use super::listed;

/// The findings of one search.
#[derive(Serialize)]
pub(super) struct Row {
    strategy: String,
    /// The kind of event; `None` for a search without events.
    event: Option<EventKind>,
    /// The most events of a schedule.
    events: usize,
    /// The most preemptions of a schedule; `None` for no bound.
    preemptions: Option<usize>,
    /// Whether schedules that differ only in the order of steps that commute were played once.
    is_reduced: bool,
    schedules: u64,
    ended_early: u64,
    /// The schedules that break a promise.
    pub(super) violated: u64,
    /// The schedules without an event at whose end a purchase tries again in vain, although all others are over.
    in_vain: u64,
    /// Whether no schedule within the bounds is left.
    pub(super) is_exhausted: bool,
    /// The time of the search, in milliseconds.
    took_ms: u64,
    /// The shortest schedule that breaks a promise.
    shortest: Option<Schedule>,
}

/// Searches without events, and then once for each kind. A kind that is never possible has no row.
///
/// # Errors
/// When a store fails.
pub(super) async fn rows(strategy: &str, player: &mut Player, bounds: &Bounds) -> Result<Vec<Row>> {
    let mut rows = Vec::new();
    let kinds = bounds.kinds.iter().map(|kind| Some(*kind));
    for event in [None].into_iter().chain(kinds) {
        let bounds = Bounds {
            events: event.map_or(0, |_| bounds.events),
            kinds: event.into_iter().collect(),
            ..bounds.clone()
        };
        let begun = Instant::now();
        let found = search(player, &bounds).await?;
        if event.is_none() || found.has_event {
            rows.push(Row::of(strategy, event, &bounds, &found, begun.elapsed()));
        }
    }
    Ok(rows)
}

/// Writes `schedules.json` and `schedules.md` into the folder.
///
/// # Errors
/// When a file cannot be written.
pub(super) fn keep(folder: &Path, rows: &[Row]) -> Result<()> {
    let written = || {
        fs::create_dir_all(folder)?;
        fs::write(
            folder.join("schedules.json"),
            serde_json::to_string_pretty(rows)? + "\n",
        )?;
        anyhow::Ok(fs::write(folder.join("schedules.md"), markdown(rows))?)
    };
    written().with_context(|| format!("cannot write into {}", folder.display()))
}

fn markdown(rows: &[Row]) -> String {
    let mut text = "| strategy | event | schedules | break a promise | the shortest of these | try in vain |\n\
                    |---|---|---|---|---|---|\n"
        .to_owned();
    for row in rows {
        let Row { strategy, violated, .. } = row;
        let event = row.event_in_words();
        let (schedules, shortest) = (row.schedules_in_words(), row.shortest_in_words());
        let in_vain = if row.event.is_none() {
            row.in_vain.to_string()
        } else {
            String::new()
        };
        let _ = writeln!(
            text,
            "| `{strategy}` | {event} | {schedules} | {violated} | {shortest} | {in_vain} |"
        );
    }
    text
}

impl Row {
    fn of(strategy: &str, event: Option<EventKind>, bounds: &Bounds, found: &Found, took: Duration) -> Self {
        let shortest = found.shortest.as_ref();
        Self {
            strategy: strategy.to_owned(),
            event,
            events: bounds.events,
            preemptions: bounds.preemptions,
            is_reduced: bounds.is_reduced,
            schedules: found.schedules,
            ended_early: found.ended_early,
            violated: found.violated,
            in_vain: found.in_vain,
            is_exhausted: found.is_exhausted,
            took_ms: u64::try_from(took.as_millis()).unwrap_or(u64::MAX),
            shortest: shortest.map(|violation| Schedule::of(strategy, &violation.play)),
        }
    }

    /// Returns the row as a line of text.
    pub(super) fn in_words(&self) -> String {
        let event = self.event_in_words();
        let (schedules, shortest) = (self.schedules_in_words(), self.shortest_in_words());
        let (strategy, violated) = (&self.strategy, self.violated);
        let shortest = if shortest.is_empty() {
            shortest
        } else {
            format!("; the shortest: {shortest}")
        };
        format!("{strategy}, {event}: {schedules} schedules, {violated} break a promise{shortest}\n")
    }

    fn event_in_words(&self) -> &'static str {
        match self.event {
            None => "none",
            Some(EventKind::LeaseEnds) => "the lease ends",
            Some(EventKind::Crash) => "a process is killed",
            Some(EventKind::RedisEmpties) => "Redis loses its data",
            Some(EventKind::RedisFailsOver) => "Redis loses its last write",
            Some(EventKind::Repeat) => "a purchase arrives twice",
            Some(EventKind::LostReply) => "a reply is lost",
        }
    }

    fn schedules_in_words(&self) -> String {
        let more = if self.is_exhausted { "" } else { ", and there are more" };
        format!("{}{more}", self.schedules)
    }

    fn shortest_in_words(&self) -> String {
        self.shortest.as_ref().map_or_else(String::new, |schedule| {
            format!("{}, after {} choices", listed(schedule), schedule.choices.len())
        })
    }
}
