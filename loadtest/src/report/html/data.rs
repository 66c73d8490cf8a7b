//! The measurements behind the page, for its script: the rounds of each cell, and what a choice needs.

use serde::Serialize;

use super::timeline::Timeline;
use crate::audit::Verdict;
use crate::report::story::of_round;
use crate::result::RoundResult;
use crate::result::cell::{Cell, strategies};
use crate::result::choice::{ALWAYS, Stores, WORDS, candidate};
use crate::result::conclusion::{Conclusion, Conclusions};
use crate::shop::response::ResponseKind;
use crate::text::one_line;
use crate::threats;

/// The longest text of a proof or of a reason.
const LONGEST: usize = 300;

/// Everything that the script shows.
#[derive(Serialize)]
pub(super) struct Data {
    /// The rounds, in the order of the cells.
    cells: Vec<Vec<Round>>,
    /// The kinds of answers in words. Rounds name them by their place.
    answers: Vec<&'static str>,
    strategies: Vec<Strategy>,
    threats: Vec<&'static str>,
    /// Plain words for threats of the run.
    words: Vec<(&'static str, &'static [&'static str])>,
    /// The threats under which a chosen strategy always has to hold.
    always: [&'static str; 3],
}

/// A round. What is empty is left out: a run has thousands of rounds.
#[derive(Serialize)]
pub(super) struct Round {
    repeat: u32,
    #[serde(skip_serializing_if = "Option::is_none")]
    phase: Option<String>,
    verdict: Verdict,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    findings: Vec<(&'static str, i64)>,
    stock: i64,
    /// The units told sold, recorded, and left in the counter.
    sold: i64,
    recorded: i64,
    left: Option<i64>,
    /// Units by the outcome of their purchases, but for those that nobody heard.
    told: Vec<(usize, i64)>,
    /// The latencies in milliseconds: median, 95 %, 99 %, 99.9 %, slowest.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    latency: Vec<(usize, [f64; 5])>,
    sales_per_s: f64,
    /// The proofs that the fault struck, and the reasons why the round decides nothing.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    notes: Vec<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    timeline: Option<Timeline>,
}

/// A strategy that can be chosen.
#[derive(Serialize)]
struct Strategy {
    name: String,
    stores: Stores,
    /// Sales per second, and the median and 99 % of the time of a sale in milliseconds.
    cost: [f64; 3],
    /// A letter for each threat: see [`letter`].
    conclusions: String,
}

impl Data {
    pub(super) fn of(cells: &[Cell]) -> Self {
        let conclusions = Conclusions::of(cells);
        let names = threats::names();
        let strategies = strategies(cells).into_iter().filter_map(|strategy| {
            // With several numbers of instances the first one counts, as in `choose`.
            let cell = cells.iter().find(|cell| cell.strategy == strategy && cell.is_cost())?;
            let cost = candidate(cell, &conclusions, &[]);
            let under = names
                .iter()
                .map(|threat| letter(conclusions.under(cell.strategy, &[threat])));
            Some(Strategy {
                stores: Stores::of(cell.strategy)?,
                cost: [cost.sales_per_s, cost.median_ms, cost.p99_ms],
                name: cost.strategy,
                conclusions: under.collect(),
            })
        });
        // `choose` does not answer for a threat that was not tried either.
        let is_tried = |threat: &&str| cells.iter().any(|cell| cell.threat == *threat);
        let words = WORDS.iter().filter(|(_, threats)| threats.iter().all(is_tried));
        Self {
            cells: cells
                .iter()
                .map(|cell| cell.rounds.iter().map(|round| Round::of(round)).collect())
                .collect(),
            answers: answers(),
            strategies: strategies.collect(),
            threats: names,
            words: words.copied().collect(),
            always: ALWAYS,
        }
    }
}

impl Round {
    pub(super) fn of(round: &RoundResult) -> Self {
        let answers = || ResponseKind::ALL.into_iter().enumerate();
        let told = answers().map(|(place, kind)| (place, round.units(kind)));
        let ms = |us: u64| tenth(us as f64 / 1_000.0);
        let latency = answers().filter_map(|(place, kind)| {
            let latency = round.latency_us.get(&kind)?;
            let quantiles = [latency.p50, latency.p95, latency.p99, latency.p99_9, latency.max];
            Some((place, quantiles.map(ms)))
        });
        let proofs = round
            .struck
            .iter()
            .map(|proof| format!("{}: {}", proof.service, proof.proof));
        let notes = proofs.chain(round.inconclusive.clone());
        Self {
            repeat: round.repeat,
            phase: round.phase.map(|phase| phase.to_string()),
            verdict: round.verdict,
            findings: round
                .findings
                .found()
                .map(|(finding, size)| (finding.name(), size))
                .collect(),
            stock: round.all_stock(),
            sold: round.units(ResponseKind::Sold),
            recorded: round.facts.recorded,
            left: round.facts.stock_left,
            told: told.filter(|(_, units)| *units != 0).collect(),
            latency: latency.collect(),
            sales_per_s: tenth(round.sales_per_s),
            notes: notes.map(|note| one_line(&note, LONGEST)).collect(),
            timeline: round
                .story
                .as_ref()
                .map(|story| Timeline::of(story, of_round(story, round))),
        }
    }
}

/// Returns the kinds of answers in words. Rounds name them by their place.
pub(super) fn answers() -> Vec<&'static str> {
    ResponseKind::ALL.map(ResponseKind::in_words).to_vec()
}

/// Rounds a measurement for a reader.
fn tenth(measured: f64) -> f64 {
    (measured * 10.0).round() / 10.0
}

/// Returns `h` for holds, `f` for fails, `d` for a loss of data in the store, `n` for no test, and `-` for not tried.
fn letter(conclusion: Conclusion) -> char {
    match conclusion {
        Conclusion::Holds => 'h',
        Conclusion::Fails(_) => 'f',
        Conclusion::DataLoss => 'd',
        Conclusion::NoTest => 'n',
        Conclusion::NotTried => '-',
    }
}
