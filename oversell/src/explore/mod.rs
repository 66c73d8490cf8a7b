//! `oversell explore` and `oversell replay`: the interleavings of two purchases, one step at a time.

mod asker;
mod stepped;
mod table;

use std::path::Path;

use anyhow::{Context, Result, bail};
use app::strategies::Entry;
use explore::{
    Arrivals, Bounds, Cost, EventKind, Found, Given, Kind, Player, Random, Schedule, columns, sample, search,
};
use stack::{Parts, Stores};
use tokio::runtime::Builder;

pub use self::asker::Talk;
use self::asker::{Asker, Terminal};
pub use self::stepped::stepped;
pub use self::table::page_of;
use crate::console;
use crate::exit::{AS_DESIGNED, INCONCLUSIVE, INTERRUPTED, NOT_AS_DESIGNED, Usage};
use crate::interrupt::{self, CLEAN_UP_WITHIN, Stop};
use crate::options::{ExploreOptions, Preemptions, ReplayOptions};
use crate::selection::{strategies_called, strategy_called};

/// Plays every schedule within the bounds. Of one strategy it shows the shortest that breaks a promise, of several it
/// prints a line for each.
pub fn explore(options: ExploreOptions) -> Result<u8> {
    let strategies = selected(&options.strategies)?;
    let is_one = strategies.len() == 1;
    if (options.save.is_some() || options.step) && !is_one {
        return Err(Usage("--save and --step are for one strategy".to_owned()).into());
    }
    let Preemptions(preemptions) = options.preemptions;
    if options.unreduced && preemptions.is_some() {
        return Err(Usage("--unreduced is for --preemptions all: with a bound nothing is reduced".to_owned()).into());
    }
    // The bug depth is the number of steps whose order matters.
    let depth = match (options.random, preemptions) {
        (Some(_), None) => return Err(Usage("--random needs a number of --preemptions".to_owned()).into()),
        (_, preemptions) => preemptions.unwrap_or_default() + 1,
    };
    let kinds = if options.kinds.is_empty() {
        EventKind::ALL.to_vec()
    } else {
        options.kinds
    };
    let bounds = Bounds {
        preemptions,
        events: options.events,
        kinds,
        is_reduced: preemptions.is_none() && !options.unreduced,
        are_alike: false,
        schedules: options.schedules,
    };
    let arrivals = Arrivals {
        purchases: options.purchases.into(),
        instances: options.instances.into(),
    };
    until_interrupted(async move {
        let mut verdict = Verdict::default();
        let mut rows = Vec::new();
        for strategy in strategies {
            let stores = stores(&strategy, !options.no_fetch).await?;
            if let Some(folder) = &options.results {
                for row in table::rows(&strategy, arrivals, &bounds, &stores).await? {
                    verdict.take(row.violated, row.is_exhausted);
                    console::print(&row.in_words())?;
                    rows.push(row);
                }
                table::keep(folder, &rows)?;
                continue;
            }
            let kinds = bounds.possible_kinds();
            let mut player = Player::open(&strategy, arrivals, kinds, &stores).await?;
            if options.step {
                let mut terminal = Terminal;
                let mut asker = Asker::new(player.turns(), bounds.events, bounds.kinds.clone(), &mut terminal);
                if let Some(play) = player.play(&mut asker).await? {
                    let schedule = Schedule::of(&strategy, &play);
                    verdict.take(play.findings.len() as u64, true);
                    console::print(&format!("\n{}\n", told(&schedule)))?;
                    save(&schedule, options.save.as_deref())?;
                }
                continue;
            }
            let found = match options.random {
                Some(schedules) => {
                    let (events, kinds) = (bounds.events, bounds.kinds.clone());
                    let mut random = Random::new(options.seed, arrivals, depth, events, kinds);
                    sample(&mut player, &mut random, schedules).await?
                }
                None => search(&mut player, &bounds).await?,
            };
            verdict.take(found.violated, found.is_exhausted);
            if is_one {
                show(&strategy, arrivals, &bounds, &found, options.save.as_deref())?;
            } else {
                console::print(&line(&strategy, &found))?;
            }
        }
        Ok(verdict.exit_status())
    })
}

/// Returns the strategies that are asked for, each once.
fn selected(asked: &[String]) -> Result<Vec<String>> {
    let entries = Entry::all();
    let known: Vec<_> = entries.iter().map(|entry| entry.name.as_str()).collect();
    let mut strategies: Vec<String> = Vec::new();
    for asked in asked {
        for called in strategies_called(asked, &known)? {
            if !strategies.iter().any(|known| known == called) {
                strategies.push(called.to_owned());
            }
        }
    }
    Ok(strategies)
}

/// What the searches of a command found.
#[derive(Default)]
struct Verdict {
    is_violated: bool,
    is_open: bool,
}

impl Verdict {
    fn take(&mut self, violated: u64, is_exhausted: bool) {
        self.is_violated |= violated > 0;
        self.is_open |= !is_exhausted;
    }

    fn exit_status(&self) -> u8 {
        match (self.is_violated, self.is_open) {
            (true, _) => NOT_AS_DESIGNED,
            (false, false) => AS_DESIGNED,
            (false, true) => INCONCLUSIVE,
        }
    }
}

/// Returns a line: strategy, schedules, violations, and the shortest violation.
fn line(strategy: &str, found: &Found) -> String {
    let all = if found.is_exhausted { "all" } else { "not all" };
    let shortest = found.shortest.as_ref().map(|violation| {
        let Cost { preemptions, events } = violation.cost;
        let findings = listed(&Schedule::of(strategy, &violation.play));
        format!(
            "; shortest: {findings}, {preemptions} preemptions, {events} events, {} choices",
            violation.play.choices.len()
        )
    });
    let (schedules, violated) = (found.schedules, found.violated);
    format!(
        "{strategy}: {schedules} schedules ({all}), {violated} violated{}\n",
        shortest.unwrap_or_default()
    )
}

fn show(strategy: &str, arrivals: Arrivals, bounds: &Bounds, found: &Found, file: Option<&Path>) -> Result<()> {
    let preemptions = match bounds.preemptions {
        Some(most) => format!("at most {}", counted(most, "preemption")),
        None => "any number of preemptions".to_owned(),
    };
    let all = if found.is_exhausted {
        ": all that there are".to_owned()
    } else {
        more(false, found.about)
    };
    let Arrivals { purchases, instances } = arrivals;
    let instances = if instances == 1 {
        "one instance"
    } else {
        "two instances"
    };
    console::print(&format!(
        "{strategy}: {purchases} purchases at {instances}, {}, {preemptions} and at most {}\n\
         {} schedules were played{all}; {} of them break a promise\n",
        counted(purchases - 1, "unit"),
        counted(bounds.events, "event"),
        found.schedules,
        found.violated
    ))?;
    if found.ended_early > 0 {
        console::print(&format!(
            "{} more were ended early: they differ from others only in the order of steps that commute\n",
            found.ended_early
        ))?;
    }
    let Some(shortest) = &found.shortest else {
        return Ok(());
    };
    let schedule = Schedule::of(strategy, &shortest.play);
    console::print(&format!("\nThe shortest of these\n\n{}\n", told(&schedule)))?;
    save(&schedule, file)
}

fn save(schedule: &Schedule, file: Option<&Path>) -> Result<()> {
    let Some(file) = file else { return Ok(()) };
    std::fs::write(file, schedule.to_json()?).with_context(|| format!("cannot write {}", file.display()))?;
    let program = console::program();
    console::print(&format!("\nPlay it again: {program} replay {}\n", file.display()))
}

/// `1 event`, `2 events`
fn counted(number: usize, what: &str) -> String {
    format!("{number} {what}{}", if number == 1 { "" } else { "s" })
}

/// Returns how many schedules there are more than those that were played.
fn more(is_exhausted: bool, about: Option<u64>) -> String {
    match (is_exhausted, about) {
        (true, _) => String::new(),
        (false, Some(all)) => format!(" of about {all}"),
        (false, None) => ", and there are more".to_owned(),
    }
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
        let mut player = Player::open(&schedule.strategy, schedule.arrivals(), &schedule.kinds(), &stores).await?;
        let again = player.play(&mut Given::new(&schedule.choices)).await?;
        let again = again.context("the schedule did not come to its end")?;
        let again = Schedule::of(&schedule.strategy, &again);
        console::print(&format!("{}\n\n{}\n", schedule.strategy, told(&again)))?;
        let is_same = again.went_as(&schedule);
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
    // On one thread nothing runs while the explorer looks, so that it sees every task at rest.
    interrupt::unless_interrupted_on(Builder::new_current_thread(), CLEAN_UP_WITHIN, work).unwrap_or(Ok(INTERRUPTED))
}
