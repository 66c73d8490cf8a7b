//! `oversell race`: any shop on trial, as its shop file describes it.

mod table;

use std::fs;
use std::path::Path;
use std::time::Duration;

use ::race::{CLOSE_WITHIN, Description, EXAMPLE, Load, MOST_LATER, Round, SCHEMA, Trial, Walked, is_private, walk};
use anyhow::{Context, Result};
use chrono::Utc;
use loadtest::audit::Verdict;
use loadtest::experiment::Standing;
use loadtest::shop::response::ResponseKind;
use loadtest::text::printable;
use serde::Serialize;
use tokio::runtime::Builder;
use tokio::time::sleep;

use self::table::{in_words, summary};
use crate::exit::{AS_DESIGNED, INCONCLUSIVE, INTERRUPTED, NOT_AS_DESIGNED, Usage};
use crate::interrupt::{self, CLEAN_UP_WITHIN, Stop};
use crate::options::{RaceOptions, TlsOptions};
use crate::progress::Progress;
use crate::{command_line, console, text_file, trust};

/// The most buyers, and the pause between rounds, at a shop elsewhere.
const MOST_ELSEWHERE: u16 = 50;
const PAUSE_ELSEWHERE: Duration = Duration::from_secs(5);

/// The longest time after a request to stop: the sale is closed, and what was raced so far is kept.
const STOP_WITHIN: Duration = CLOSE_WITHIN.saturating_add(CLEAN_UP_WITHIN);

/// What is kept of a trial.
#[derive(Serialize)]
struct Kept<'a> {
    command: String,
    started_at: String,
    /// The base URL of the shop.
    shop: String,
    /// Whether its certificate was checked.
    is_certificate_checked: bool,
    /// What the shop file does not let the verdicts say.
    not_judged: Option<&'static str>,
    rounds: &'a [Round],
}

/// Races the shop of a shop file, or walks through the file.
pub fn race(options: RaceOptions) -> Result<u8> {
    if options.example || options.schema {
        console::print(if options.example { EXAMPLE } else { SCHEMA })?;
        return Ok(AS_DESIGNED);
    }
    let file = options.shop.as_deref().context("no shop file is named")?;
    let name = console::path(file);
    let described = text_file::read(file).and_then(|text| Description::parse(&text));
    let described = described.map_err(|error| Usage(format!("{name}: {error:#}")))?;
    let trust = trust::of(&TlsOptions {
        ca_file: options.ca_file.clone(),
        insecure: options.insecure,
    })?;
    let trial = Trial::new(described, trust)?;
    let work = |stop: Stop| put_on_trial(trial, options, name, stop);
    interrupt::unless_interrupted_on(Builder::new_multi_thread(), STOP_WITHIN, work).unwrap_or(Ok(INTERRUPTED))
}

async fn put_on_trial(trial: Trial, options: RaceOptions, name: String, stop: Stop) -> Result<u8> {
    let shop = trial.base().origin().ascii_serialization();
    let mut is_elsewhere = false;
    for url in trial.urls() {
        if !is_private(&url).await {
            allow(&url.origin().ascii_serialization(), &options)?;
            is_elsewhere = true;
        }
    }
    if options.check {
        return said(check(&trial, &name, &stop).await, &stop);
    }
    let started_at = Utc::now().format("%Y-%m-%dT%H:%M:%SZ").to_string();
    let pause = if is_elsewhere { PAUSE_ELSEWHERE } else { Duration::ZERO };
    let rounds = said(play(&trial, &options, pause, &stop).await, &stop)?;
    let kept = Kept {
        command: command_line::shown(),
        started_at,
        shop,
        is_certificate_checked: !options.insecure,
        not_judged: trial.not_judged(),
        rounds: &rounds,
    };
    console::print(&summary(&kept))?;
    if let Some(folder) = &options.results {
        keep(folder, &kept).with_context(|| format!("cannot write into {}", console::path(folder)))?;
    }
    let (controls, races): (Vec<_>, Vec<_>) = rounds.iter().partition(|round| round.load == Load::OneByOne);
    if !controls.into_iter().all(is_exact) {
        console::note(format_args!(
            "Buyers that come one at a time are not sold to as they should be. See whether {name} fits the shop:\n  \
             {} race {name} --check",
            console::program()
        ));
        return Ok(NOT_AS_DESIGNED);
    }
    if stop.get().is_some() {
        return Ok(INTERRUPTED);
    }
    let is = |verdict| races.iter().any(|round| round.verdict == verdict);
    Ok(match (is(Verdict::Violated), is(Verdict::Inconclusive)) {
        (true, _) => NOT_AS_DESIGNED,
        (false, true) => INCONCLUSIVE,
        (false, false) => AS_DESIGNED,
    })
}

/// Refuses a shop elsewhere that the user does not own, or that too many buyers would race.
fn allow(shop: &str, options: &RaceOptions) -> Result<(), Usage> {
    if !options.i_own_this_shop {
        return Err(Usage(format!(
            "{shop} is neither on this machine nor in a private network: --i-own-this-shop says that it is yours"
        )));
    }
    if options.buyers > MOST_ELSEWHERE {
        return Err(Usage(format!(
            "at a shop elsewhere --buyers is at most {MOST_ELSEWHERE}"
        )));
    }
    console::note(format_args!(
        "{shop} is raced, which is not on this machine: it is yours, as you said"
    ));
    Ok(())
}

/// Plays the controls and then the races, with a pause between two. Ends early when the control is not exact, or on a request to
/// stop.
async fn play(trial: &Trial, options: &RaceOptions, pause: Duration, stop: &Stop) -> Result<Vec<Round>> {
    let race = |has_fault| Load::Race {
        buyers: options.buyers.into(),
        clicks: options.clicks.into(),
        has_fault,
    };
    let progress = Progress::new(false);
    let mut rounds: Vec<Round> = Vec::new();
    let mut loads = vec![Load::OneByOne, Load::InTurn(options.buyers.into())];
    // It shows whether the fault or the race alone breaks the shop.
    loads.extend(trial.has_fault().then(|| race(false)));
    loads.extend((0..options.rounds).map(|_| race(trial.has_fault())));
    let all = loads.len();
    for (number, load) in loads.into_iter().enumerate() {
        if rounds
            .iter()
            .any(|round| round.load == Load::OneByOne && !is_exact(round))
        {
            break;
        }
        progress.begins(Standing::even(number, all), in_words(load), in_words(load).to_owned());
        let ready = |done: usize, of: usize| {
            if done == of {
                progress.says(format!("{done} buyers are ready"));
            }
        };
        tokio::select! {
            () = sleep(if number == 0 { Duration::ZERO } else { pause }) => {}
            _ = stop.wait() => break,
        }
        match trial.play(load, ready, stopped(stop)).await? {
            Some(round) => rounds.push(round),
            None => break,
        }
    }
    progress.clear();
    Ok(rounds)
}

async fn stopped(stop: &Stop) {
    stop.wait().await;
}

/// Says an error after a request to stop: nothing else does then, and the sale may still be open.
fn said<T>(done: Result<T>, stop: &Stop) -> Result<T> {
    if let (Err(error), Some(())) = (&done, stop.get()) {
        console::note(format_args!("oversell: {error:#}"));
    }
    done
}

async fn check(trial: &Trial, name: &str, stop: &Stop) -> Result<u8> {
    let mut printed = Ok(());
    let say = |line: &str| {
        if printed.is_ok() {
            let lines: Vec<_> = line.split('\n').map(printable).collect();
            printed = console::print(&format!("{}\n", lines.join("\n")));
        }
    };
    let walked = walk(trial, say, stopped(stop)).await?;
    printed?;
    match walked {
        Walked::Stopped => return Ok(INTERRUPTED),
        Walked::Wrong(wrong) => {
            console::print(&format!("\nThe shop file does not fit: {}\n", printable(&wrong)))?;
            return Ok(NOT_AS_DESIGNED);
        }
        Walked::Fits => {}
    }
    let untried = if trial.has_fault() {
        "`sold_out` and `[fault]` were not tried; a race tries them, `sold_out` first"
    } else {
        "`sold_out` was not tried; a race tries it first"
    };
    console::print(&format!(
        "\nThe shop file fits one buyer who buys. {untried}:\n\n  {} race {name}\n",
        console::program()
    ))?;
    Ok(AS_DESIGNED)
}

fn keep(folder: &Path, kept: &Kept<'_>) -> Result<()> {
    fs::create_dir_all(folder)?;
    fs::write(folder.join("race.json"), serde_json::to_string_pretty(kept)? + "\n")?;
    Ok(fs::write(folder.join("race.md"), summary(kept))?)
}

/// Returns whether the control is as it should be. Of a large stock it cannot see the end.
fn is_exact(round: &Round) -> bool {
    let is_large = usize::try_from(round.stock).is_ok_and(|stock| stock >= MOST_LATER);
    let sold = round.told.get(&ResponseKind::Sold).copied().unwrap_or_default();
    let unclear = round.told.get(&ResponseKind::Unknown).copied().unwrap_or_default();
    match round.verdict {
        Verdict::Holds => true,
        Verdict::Violated => false,
        Verdict::Inconclusive => is_large && sold > 0 && unclear == 0,
    }
}
