//! `oversell explore` and `oversell replay`: the interleavings of two purchases, one step at a time.

use std::path::Path;

use anyhow::{Context, Result, bail};
use app::strategies::Entry;
use explore::{Bounds, Cost, Found, Kind, Player, Schedule, columns, search};
use stack::{Parts, Stores};

use crate::console;
use crate::exit::{AS_DESIGNED, INCONCLUSIVE, INTERRUPTED, NOT_AS_DESIGNED, Usage};
use crate::interrupt::{self, Stop};
use crate::options::{ExploreOptions, ReplayOptions};
use crate::selection::{strategies_called, strategy_called};

/// Plays every schedule within the bounds. Of one strategy it shows the shortest that breaks a promise, of several it
/// prints a line for each.
pub fn explore(options: ExploreOptions) -> Result<u8> {
    let entries = Entry::all();
    let known: Vec<_> = entries.iter().map(|entry| entry.name.as_str()).collect();
    let mut strategies: Vec<String> = Vec::new();
    for asked in &options.strategies {
        for called in strategies_called(asked, &known)? {
            if !strategies.iter().any(|known| known == called) {
                strategies.push(called.to_owned());
            }
        }
    }
    let is_one = strategies.len() == 1;
    if options.save.is_some() && !is_one {
        return Err(Usage("--save keeps the schedule of one strategy".to_owned()).into());
    }
    let bounds = Bounds {
        cost: Cost {
            preemptions: options.preemptions,
            events: options.events,
        },
        schedules: options.schedules,
    };
    until_interrupted(async move {
        let (mut violated, mut exhausted) = (false, true);
        for strategy in strategies {
            let stores = stores(&strategy, !options.no_fetch).await?;
            let mut player = Player::open(&strategy, &stores).await?;
            let found = search(&mut player, bounds).await?;
            violated |= found.violated > 0;
            exhausted &= found.is_exhausted;
            if is_one {
                show(&strategy, bounds, &found, options.save.as_deref())?;
            } else {
                console::print(&line(&strategy, &found))?;
            }
        }
        Ok(match (violated, exhausted) {
            (true, _) => NOT_AS_DESIGNED,
            (false, true) => AS_DESIGNED,
            (false, false) => INCONCLUSIVE,
        })
    })
}

/// Returns a line: strategy, schedules, violations, and the shortest violation.
fn line(strategy: &str, found: &Found) -> String {
    let all = if found.is_exhausted { "all" } else { "not all" };
    let shortest = found.shortest.as_ref().map(|play| {
        let Cost { preemptions, events } = Cost::of(&play.points);
        let findings = listed(&Schedule::of(strategy, play));
        format!(
            "; shortest: {findings}, {preemptions} preemptions, {events} events, {} choices",
            play.points.len()
        )
    });
    let (schedules, violated) = (found.schedules, found.violated);
    format!(
        "{strategy}: {schedules} schedules ({all}), {violated} violated{}\n",
        shortest.unwrap_or_default()
    )
}

fn show(strategy: &str, bounds: Bounds, found: &Found, save: Option<&Path>) -> Result<()> {
    let Cost { preemptions, events } = bounds.cost;
    let all = if found.is_exhausted {
        ", which are all"
    } else {
        ", and there are more"
    };
    console::print(&format!(
        "{strategy}: one unit, two purchases at two instances, at most {preemptions} preemptions and {events} events\n\
         {} schedules were played{all}; {} of them break a promise\n",
        found.schedules, found.violated
    ))?;
    let Some(shortest) = &found.shortest else {
        return Ok(());
    };
    let schedule = Schedule::of(strategy, shortest);
    console::print(&format!("\nThe shortest of these\n\n{}\n", told(&schedule)))?;
    if let Some(file) = save {
        std::fs::write(file, schedule.to_json()?).with_context(|| format!("cannot write {}", file.display()))?;
        let program = console::program();
        console::print(&format!("\nPlay it again: {program} replay {}\n", file.display()))?;
    }
    Ok(())
}

/// Plays a schedule again, and compares each step and each finding.
pub fn replay(options: ReplayOptions) -> Result<u8> {
    let file = options.schedule.display().to_string();
    let json = std::fs::read(&options.schedule).map_err(|error| Usage(format!("cannot read {file}: {error}")))?;
    let schedule = Schedule::parse(&json).map_err(|error| Usage(format!("{file}: {error:#}")))?;
    let entries = Entry::all();
    let names: Vec<_> = entries.iter().map(|entry| entry.name.as_str()).collect();
    strategy_called(&schedule.strategy, &names)?;
    until_interrupted(async move {
        let stores = stores(&schedule.strategy, !options.no_fetch).await?;
        let mut player = Player::open(&schedule.strategy, &stores).await?;
        let events = schedule.choices.iter().filter(|choice| choice.is_event()).count();
        let bounds = Cost {
            preemptions: usize::MAX,
            events,
        };
        let again = Schedule::of(&schedule.strategy, &player.play(&schedule.choices, bounds).await?);
        console::print(&format!("{}\n\n{}\n", schedule.strategy, told(&again)))?;
        let is_same = again == schedule;
        console::print(if is_same {
            "\nEach step and each finding is that of the file.\n"
        } else {
            "\nThis is not what the file says.\n"
        })?;
        Ok(if is_same { AS_DESIGNED } else { NOT_AS_DESIGNED })
    })
}

/// Returns the schedule in columns, and its findings below.
fn told(schedule: &Schedule) -> String {
    format!("{}\n{}", columns(schedule), listed(schedule))
}

fn listed(schedule: &Schedule) -> String {
    let findings = schedule.findings.iter().map(|(name, size)| format!("{name} {size}"));
    let findings: Vec<String> = findings.collect();
    if findings.is_empty() {
        "no finding".to_owned()
    } else {
        findings.join(", ")
    }
}

/// Starts the stores, which nobody else may use, and the services that the strategy needs.
async fn stores(strategy: &str, fetch: bool) -> Result<Stores> {
    let needs = Kind::of(strategy)?.needs;
    let start = move || {
        let mut stores = Stores::start(&Parts {
            redis_url: None,
            sql_url: None,
            fetch,
        })?;
        for need in needs.iter().filter(|need| !["redis", "sql"].contains(need)) {
            stores.start_service(need, fetch)?;
        }
        Ok(stores)
    };
    tokio::task::spawn_blocking(start).await?
}

fn until_interrupted(work: impl Future<Output = Result<u8>> + Send + 'static) -> Result<u8> {
    let work = |stop: Stop| async move {
        tokio::select! {
            done = work => done,
            _ = stop.wait() => bail!("interrupted"),
        }
    };
    interrupt::unless_interrupted(work).unwrap_or(Ok(INTERRUPTED))
}
