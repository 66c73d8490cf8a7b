//! The findings of searches as a table: a row for each strategy and each kind of event.

use std::fmt::Write;
use std::fs;
use std::path::Path;
use std::time::{Duration, Instant};

use anyhow::{Context, Result};
use explore::{Arrivals, Bounds, EventKind, Found, Player, Schedule, search, story};
use loadtest::report::{self, Searched};
use serde::{Deserialize, Serialize};
use stack::Stores;

use super::{listed, more};

/// The file that keeps the findings.
const FILE: &str = "schedules.json";

/// The findings of one search.
#[derive(Serialize, Deserialize)]
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
    /// About how many schedules are within the bounds, where some are left and all count.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    about: Option<u64>,
    /// The time of the search, in milliseconds.
    took_ms: u64,
    /// The shortest schedule that breaks a promise.
    shortest: Option<Schedule>,
}

/// Searches without events, and then once for each kind. A kind that is never possible has no row.
///
/// # Errors
/// When a store fails.
pub(super) async fn rows(strategy: &str, arrivals: Arrivals, bounds: &Bounds, stores: &Stores) -> Result<Vec<Row>> {
    let mut rows = Vec::new();
    let kinds = bounds.kinds.iter().map(|kind| Some(*kind));
    for event in [None].into_iter().chain(kinds) {
        let bounds = Bounds {
            events: event.map_or(0, |_| bounds.events),
            kinds: event.into_iter().collect(),
            ..bounds.clone()
        };
        // Only the searches with lost replies and late requests have relays, which make every message late.
        let mut player = Player::open(strategy, arrivals, bounds.possible_kinds(), stores).await?;
        let begun = Instant::now();
        let found = search(&mut player, &bounds).await?;
        if event.is_none() || found.has_event {
            rows.push(Row::of(strategy, event, &bounds, &found, begun.elapsed()));
        }
    }
    Ok(rows)
}

/// Writes `schedules.json`, `schedules.md` and the page `schedules.html` into the folder.
///
/// # Errors
/// When a file cannot be written.
pub(super) fn keep(folder: &Path, rows: &[Row]) -> Result<()> {
    let written = || {
        fs::create_dir_all(folder)?;
        fs::write(folder.join(FILE), serde_json::to_string_pretty(rows)? + "\n")?;
        fs::write(folder.join("schedules.md"), markdown(rows))?;
        anyhow::Ok(fs::write(folder.join("schedules.html"), page(rows))?)
    };
    written().with_context(|| format!("cannot write into {}", folder.display()))
}

/// Returns the page of the findings that are kept in this folder or file. Returns `None` where it keeps something else.
///
/// # Errors
/// When they cannot be read.
pub fn page_of(kept: &Path) -> Result<Option<String>> {
    let file = if kept.is_dir() {
        kept.join(FILE)
    } else {
        kept.to_owned()
    };
    if file.file_name() != Some(FILE.as_ref()) || !file.exists() {
        return Ok(None);
    }
    let cannot = || format!("cannot read {}", file.display());
    let rows: Vec<Row> = serde_json::from_slice(&fs::read(&file).with_context(cannot)?).with_context(cannot)?;
    Ok(Some(page(&rows)))
}

fn page(rows: &[Row]) -> String {
    report::schedules(&rows.iter().map(Row::searched).collect::<Vec<_>>())
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
            about: found.about,
            took_ms: u64::try_from(took.as_millis()).unwrap_or(u64::MAX),
            shortest: shortest.map(|violation| Schedule::of(strategy, &violation.play)),
        }
    }

    fn searched(&self) -> Searched {
        Searched {
            strategy: self.strategy.clone(),
            event: self.event_in_words(),
            schedules: self.schedules_in_words(),
            violated: self.violated,
            shortest: self
                .shortest
                .as_ref()
                .and_then(|schedule| Some((listed(schedule), story(schedule)?))),
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
            Some(EventKind::SlowHolder) => "the work lasts longer than a lease",
            Some(EventKind::Crash) => "a process is killed",
            Some(EventKind::RedisEmpties) => "Redis loses its data",
            Some(EventKind::RedisFailsOver) => "Redis loses its last write",
            Some(EventKind::Repeat) => "a purchase arrives twice",
            Some(EventKind::LostReply) => "a reply is lost",
            Some(EventKind::LateRequest) => "a request is late",
            Some(EventKind::WorkerWakes) => "a worker wakes",
            Some(EventKind::SessionEnds) => "the session of the holder ends",
        }
    }

    fn schedules_in_words(&self) -> String {
        format!("{}{}", self.schedules, more(self.is_exhausted, self.about))
    }

    fn shortest_in_words(&self) -> String {
        self.shortest.as_ref().map_or_else(String::new, |schedule| {
            format!("{}, after {} choices", listed(schedule), schedule.choices.len())
        })
    }
}
