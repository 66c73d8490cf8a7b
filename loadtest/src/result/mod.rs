//! What a run leaves behind: `result.json`, schema version 2, described by `docs/result.schema.json`.

pub mod cell;
pub mod choice;
pub mod compare;
pub mod conclusion;
pub mod environment;
pub mod soak_totals;
pub mod summary;

use std::collections::BTreeMap;

use anyhow::{Context, Result, ensure};
use serde::{Deserialize, Serialize};

use crate::audit::{Evidence, Findings, Verdict};
use crate::follow_up::SaleSetFollowUp;
use crate::plan::Round;
use crate::plan::soak::Soak;
use crate::responses::latency::Latency;
use crate::result::environment::Environment;
use crate::shop::pending::Reconciled;
use crate::shop::response::ResponseKind;
use crate::trace::Story;

/// Raised whenever a field changes its meaning, or one is added that has to be there.
pub const SCHEMA_VERSION: u32 = 2;

/// A run: every measurement of every round, and nothing derived from them but `as_designed`.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct RunResult {
    /// Of this form: [`SCHEMA_VERSION`].
    pub schema_version: u32,
    /// After how many rounds the run ended although more were planned, and why if that is known.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub ended_early: Option<String>,
    /// The command line, without passwords.
    pub command: String,
    /// What its plan was drawn from, where it was drawn.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub soak: Option<Soak>,
    /// When the run began, UTC, RFC 3339.
    pub started_at: String,
    /// On what it ran.
    pub environment: Environment,
    /// Whether every strategy did under every threat what it claims; `null` while something is inconclusive, was
    /// skipped, or was not played because the run ended early.
    pub as_designed: Option<bool>,
    /// One entry per round.
    pub rounds: Vec<RoundResult>,
}

impl RunResult {
    /// Reads a `result.json`.
    ///
    /// # Errors
    /// When it is none, or one of another schema version: its fields may mean something else there.
    pub fn parse(json: &[u8]) -> Result<Self> {
        #[derive(Deserialize)]
        struct Version {
            schema_version: u32,
        }
        let Version { schema_version } = serde_json::from_slice(json).context("this is no result")?;
        ensure!(
            schema_version == SCHEMA_VERSION,
            "this result is of schema version {schema_version}, and version {SCHEMA_VERSION} can be read; play it again"
        );
        serde_json::from_slice(json).context("this is no result")
    }
}

/// One round.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct RoundResult {
    /// `mechanism@store`
    pub strategy: String,
    /// By what kind of mechanism it decides, where the shop says so.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub family: Option<String>,
    /// Name of the threat or control.
    pub threat: String,
    /// Instances behind the proxy.
    pub instances: usize,
    /// Buyers at once.
    pub buyers: usize,
    /// Units that the sale of each item was opened with.
    pub stock: i64,
    /// Items that were sold at once.
    #[serde(default = "one")]
    pub items: usize,
    /// Units asked for.
    pub demand: i64,
    /// Units of each purchase.
    pub quantity: u32,
    /// Business time between read and write, in milliseconds.
    pub work_ms: u64,
    /// Which of the repeats, from 1.
    pub repeat: u32,
    /// Whether the strategy promises to survive this.
    pub claimed: bool,
    /// Whether the strategy says that this breaks it now and then: neither outcome is then against what it says.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub sometimes_broken: bool,
    /// Whether the strategy says nothing of this threat: neither outcome is then against what it says.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub undeclared: bool,
    /// What the round shows.
    pub verdict: Verdict,
    /// Whether promise and verdict agree.
    pub as_designed: bool,
    /// What buyers were told, in units: those of the attack, and those who came after it to buy what was left.
    pub told: BTreeMap<ResponseKind, i64>,
    /// What the stores say, in units.
    pub facts: RoundFacts,
    /// What is wrong, in units.
    pub findings: Findings,
    /// The first orders that are lost, ghosts or duplicates.
    #[serde(skip_serializing_if = "Vec::is_empty", default)]
    pub evidence: Vec<Evidence>,
    /// Latency of each kind of answer, in microseconds.
    pub latency_us: BTreeMap<ResponseKind, Latency>,
    /// Units sold per second, from the release of the buyers to the last sale.
    pub sales_per_s: f64,
    /// The longest time in which nobody could buy, as [`crate::responses::busy::longest`] has it, in seconds; `None` where there
    /// was none.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub busy_s: Option<f64>,
    /// The longest wait for the lock, in microseconds; `None` without a trace, and where nobody asks for a lock.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub longest_wait_us: Option<u64>,
    /// Jain's index over the buyers' waits for the lock; `None` as well where none competed.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub jain: Option<f64>,
    /// The steps that show what is wrong; `None` without a trace, and where nothing is.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub story: Option<Story>,
    /// What the shop's reconciler did; `None` where no instance says so.
    #[serde(default)]
    pub reconciled: Option<Reconciled>,
    /// Why the round was not played.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub skipped: Option<String>,
    /// Why the round proves nothing.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub inconclusive: Option<String>,
    /// Why the round was no test when it was played before, so that it was played once more.
    #[serde(skip_serializing_if = "Vec::is_empty", default)]
    pub inconclusive_before: Vec<String>,
}

/// What a result says that was written before there were markets.
fn one() -> usize {
    1
}

/// More than that nobody can read out of a measurement.
fn to_a_thousandth(measured: f64) -> f64 {
    (measured * 1_000.0).round() / 1_000.0
}

/// The stores' ledgers after a round.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub struct RoundFacts {
    /// Units in the order ledger.
    pub recorded: i64,
    /// Of these, units whose buyer never got an answer.
    pub explained: i64,
    /// The counter; `null` when it could not be read.
    pub stock_left: Option<i64>,
}

impl RoundResult {
    /// Puts a round that was played together.
    pub fn played(round: &Round, follow_up: &SaleSetFollowUp) -> Self {
        let (shown, judgement) = (follow_up.shown(), follow_up.judge());
        let quantity = i64::from(round.load.quantity);
        let claimed = round.is_claimed();
        let sold = follow_up
            .attack()
            .filter(|response| response.kind == ResponseKind::Sold)
            .count() as i64
            * quantity;
        let seconds = follow_up.selling_time().map_or(0.0, |time| time.as_secs_f64());
        Self {
            verdict: judgement.verdict,
            as_designed: match judgement.verdict {
                Verdict::Holds => claimed || round.is_sometimes_broken() || round.is_undeclared(),
                Verdict::Violated => !claimed,
                Verdict::Inconclusive => false,
            },
            told: ResponseKind::ALL
                .into_iter()
                .map(|kind| (kind, follow_up.count(kind) as i64 * quantity))
                .collect(),
            facts: RoundFacts {
                recorded: judgement.recorded,
                explained: judgement.explained,
                stock_left: judgement.stock_left,
            },
            findings: judgement.findings.beside(shown.overlap),
            evidence: judgement.evidence,
            latency_us: follow_up.latency_us(),
            sales_per_s: if seconds > 0.0 {
                to_a_thousandth(sold as f64 / seconds)
            } else {
                0.0
            },
            busy_s: follow_up.busy().map(|busy| to_a_thousandth(busy.as_secs_f64())),
            longest_wait_us: shown.waits.map(|waits| waits.longest_us),
            jain: shown
                .waits
                .filter(|_| follow_up.is_contended())
                .and_then(|waits| waits.jain),
            story: shown.story,
            reconciled: follow_up.reconciled(),
            inconclusive: judgement.inconclusive,
            ..Self::blank(round)
        }
    }

    /// A round that is not over: buyers are told to wait, and nobody can say yet what will come of it.
    pub fn waiting(round: &Round) -> Self {
        Self {
            told: ResponseKind::ALL.into_iter().map(|kind| (kind, 0)).collect(),
            inconclusive: Some("buyers were still told to wait when the run ended".to_owned()),
            ..Self::blank(round)
        }
    }

    /// A round that could not be played.
    pub fn skipped(round: &Round, why: String) -> Self {
        Self {
            skipped: Some(why),
            ..Self::blank(round)
        }
    }

    fn blank(round: &Round) -> Self {
        Self {
            strategy: round.strategy.name.clone(),
            family: round.strategy.family.clone(),
            threat: round.threat.name.to_owned(),
            instances: round.instances,
            buyers: round.load.buyers,
            stock: round.load.stock,
            items: round.load.items,
            demand: round.load.demand(),
            quantity: round.load.quantity,
            work_ms: round.load.work_ms,
            repeat: round.repeat,
            claimed: round.is_claimed(),
            sometimes_broken: round.is_sometimes_broken(),
            undeclared: round.is_undeclared(),
            verdict: Verdict::Inconclusive,
            as_designed: false,
            told: BTreeMap::new(),
            facts: RoundFacts::default(),
            findings: Findings::default(),
            evidence: Vec::new(),
            latency_us: BTreeMap::new(),
            sales_per_s: 0.0,
            busy_s: None,
            longest_wait_us: None,
            jain: None,
            story: None,
            reconciled: None,
            skipped: None,
            inconclusive: None,
            inconclusive_before: Vec::new(),
        }
    }

    /// Units of all items together.
    pub fn all_stock(&self) -> i64 {
        self.stock.saturating_mul(i64::try_from(self.items).unwrap_or(i64::MAX))
    }

    /// How much there was, for a sentence: `48`, or `50 x 1600` where many items were sold.
    pub fn stock_in_words(&self) -> String {
        match self.items {
            1 => self.stock.to_string(),
            items => format!("{items} x {}", self.stock),
        }
    }

    /// Units that buyers were told with `word`.
    pub fn units(&self, kind: ResponseKind) -> i64 {
        self.told.get(&kind).copied().unwrap_or(0)
    }
}
