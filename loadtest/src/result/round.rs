//! The result of one round.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use crate::attack::Proof;
use crate::audit::{Evidence, Findings, Verdict};
use crate::deployment::Unplayed;
use crate::follow_up::SaleSetFollowUp;
use crate::phase::Phase;
use crate::plan::Round;
use crate::responses::latency::Latency;
use crate::shop::pending::Reconciled;
use crate::shop::response::ResponseKind;
use crate::trace::Story;

/// One round.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct RoundResult {
    /// `mechanism@store`
    pub strategy: String,
    /// The kind of its mechanism, if the shop names it.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub family: Option<String>,
    /// Name of the threat or control.
    pub threat: String,
    /// The phase in which the fault came, where the threat is played in several.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub phase: Option<Phase>,
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
    /// Business time between read and write, in milliseconds, on average.
    pub work_ms: u64,
    /// The number of the repeat, from 1.
    pub repeat: u32,
    /// Whether the strategy promises to survive this.
    pub claimed: bool,
    /// Whether the strategy says that this breaks it now and then. Both outcomes agree with that.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub sometimes_broken: bool,
    /// Whether the strategy says nothing of this threat. Both outcomes agree with that.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub undeclared: bool,
    /// The verdict.
    pub verdict: Verdict,
    /// Whether promise and verdict agree.
    pub as_designed: bool,
    /// Units by the outcome of their purchases, in the attack and in the follow-up.
    pub told: BTreeMap<ResponseKind, i64>,
    /// The content of the stores, in units.
    pub facts: RoundFacts,
    /// The findings, in units.
    pub findings: Findings,
    /// The first lost, ghost and duplicate orders.
    #[serde(skip_serializing_if = "Vec::is_empty", default)]
    pub evidence: Vec<Evidence>,
    /// The latency of each kind of response, in microseconds.
    pub latency_us: BTreeMap<ResponseKind, Latency>,
    /// Units sold per second, from the release of the buyers to the last sale.
    pub sales_per_s: f64,
    /// The longest time in which no buyer could buy, in seconds, by [`crate::responses::busy::longest`]; `None` where
    /// there was none.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub busy_s: Option<f64>,
    /// The longest wait for the lock, in microseconds; `None` without a trace or without a lock.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub longest_wait_us: Option<u64>,
    /// Jain's index over the buyers' waits for the lock; `None` also if no buyers competed.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub jain: Option<f64>,
    /// The steps that show what is wrong; `None` without a trace or without a finding.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub story: Option<Story>,
    /// The work of the shop's reconciler; `None` if no instance reports it.
    #[serde(default)]
    pub reconciled: Option<Reconciled>,
    /// The proofs that the fault struck the services that it names; none in a round without a fault.
    #[serde(skip_serializing_if = "Vec::is_empty", default)]
    pub struck: Vec<Proof>,
    /// The reason why the round was not played, although it could be.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub skipped: Option<String>,
    /// The reason why the round can never be played in this deployment.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub not_playable: Option<String>,
    /// The reason why the round proves nothing.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub inconclusive: Option<String>,
    /// The reasons why earlier plays of this round were no test.
    #[serde(skip_serializing_if = "Vec::is_empty", default)]
    pub inconclusive_before: Vec<String>,
}

/// The number of items in a result from before rounds had several.
fn one() -> usize {
    1
}

/// Rounds a measurement to the digits that it can support.
fn to_a_thousandth(measured: f64) -> f64 {
    (measured * 1_000.0).round() / 1_000.0
}

/// The stores' ledgers after a round.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub struct RoundFacts {
    /// Units in the order ledger.
    pub recorded: i64,
    /// Units among these whose buyer never got a response.
    pub explained: i64,
    /// The counter; `null` when it could not be read.
    pub stock_left: Option<i64>,
}

impl RoundResult {
    /// Builds the result of a round that was played.
    pub fn played(round: &Round, follow_up: &SaleSetFollowUp) -> Self {
        let (shown, judgement) = (follow_up.shown(), follow_up.judge());
        let quantity = i64::from(round.load.quantity);
        let sold = follow_up
            .attack()
            .filter(|response| response.kind == ResponseKind::Sold)
            .count() as i64
            * quantity;
        let seconds = follow_up.selling_time().map(|time| time.as_secs_f64());
        let seconds = seconds.filter(|seconds| *seconds > 0.0);
        Self {
            verdict: judgement.verdict,
            as_designed: Self::is_as_designed(
                judgement.verdict,
                round.is_claimed(),
                round.is_sometimes_broken() || round.is_undeclared(),
            ),
            told: ResponseKind::ALL
                .into_iter()
                .map(|kind| (kind, follow_up.count(kind) as i64 * quantity))
                .collect(),
            facts: RoundFacts {
                recorded: judgement.recorded,
                explained: judgement.explained,
                stock_left: judgement.stock_left,
            },
            findings: judgement.findings.with_overlap(shown.overlap),
            evidence: judgement.evidence,
            latency_us: follow_up.latency_us(),
            sales_per_s: seconds.map_or(0.0, |seconds| to_a_thousandth(sold as f64 / seconds)),
            busy_s: follow_up.busy().map(|busy| to_a_thousandth(busy.as_secs_f64())),
            longest_wait_us: shown.waits.map(|waits| waits.longest_us),
            jain: shown
                .waits
                .filter(|_| follow_up.is_contended())
                .and_then(|waits| waits.jain),
            story: shown.story,
            reconciled: follow_up.reconciled(),
            struck: follow_up.struck.clone(),
            inconclusive: judgement.inconclusive,
            ..Self::blank(round)
        }
    }

    /// Returns whether promise and verdict agree. `may_hold`: a strategy without a promise that it does not expect to fail
    /// here.
    pub(super) fn is_as_designed(verdict: Verdict, claimed: bool, may_hold: bool) -> bool {
        match verdict {
            Verdict::Holds => claimed || may_hold,
            Verdict::Violated => !claimed,
            Verdict::Inconclusive => false,
        }
    }

    /// Returns the result of a round whose buyers are still told busy: its outcome is not known yet.
    pub fn waiting(round: &Round) -> Self {
        Self {
            told: ResponseKind::ALL.into_iter().map(|kind| (kind, 0)).collect(),
            inconclusive: Some("buyers were still told busy when the run ended".to_owned()),
            ..Self::blank(round)
        }
    }

    /// Returns the result of a round that is not played, for this reason.
    pub fn unplayed(round: &Round, why: Unplayed) -> Self {
        match why {
            Unplayed::Skipped(why) => Self::skipped(round, why),
            Unplayed::NotPlayable(why) => Self {
                not_playable: Some(why),
                ..Self::blank(round)
            },
        }
    }

    /// Returns the result of a round that could not be played.
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
            phase: round.phase,
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
            struck: Vec::new(),
            skipped: None,
            not_playable: None,
            inconclusive: None,
            inconclusive_before: Vec::new(),
        }
    }

    /// Returns the reason why it was not played; `None` if it was.
    pub fn why_unplayed(&self) -> Option<&str> {
        self.skipped.as_deref().or(self.not_playable.as_deref())
    }

    /// Returns the units of all items together.
    pub fn all_stock(&self) -> i64 {
        self.stock.saturating_mul(i64::try_from(self.items).unwrap_or(i64::MAX))
    }

    /// Returns the stock for a sentence: `48`, or `50 x 1600` for several items.
    pub fn stock_in_words(&self) -> String {
        match self.items {
            1 => self.stock.to_string(),
            items => format!("{items} x {}", self.stock),
        }
    }

    /// Returns the units of one kind of response.
    pub fn units(&self, kind: ResponseKind) -> i64 {
        self.told.get(&kind).copied().unwrap_or(0)
    }
}
