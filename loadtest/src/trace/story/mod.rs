//! The story of a violated round: the steps that show what is wrong, cut to the purchases that took them.

mod chosen;
mod cut;
mod event;
mod held_up;
mod stuck;
mod updates;

use serde::{Deserialize, Serialize};

use self::chosen::{chosen, gone};
use self::cut::{cut, steps_of};
use self::event::events;
use super::event::Role;
use super::purchase::{Trace, TracedPurchase};
use crate::audit::{Expectation, FaultSeen, Finding, Judgement};
use crate::facts::Observation;
use crate::responses::Responses;
use crate::shop::response::ResponseKind;

/// The most purchases of a story.
const MOST_PURCHASES: usize = 3;

pub use self::event::StoryEvent;

/// Steps of a few purchases that show the gravest finding of a round.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Story {
    /// What they show.
    pub shows: Finding,
    /// Who takes part: one column each.
    pub purchases: Vec<StoryPurchase>,
    /// What they did, in the order in which it began.
    pub steps: Vec<StoryStep>,
    /// What happened besides, in the order in which it began; an older result has none.
    #[serde(skip_serializing_if = "Vec::is_empty", default)]
    pub events: Vec<StoryEvent>,
}

/// Somebody who takes part.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct StoryPurchase {
    /// Who buys.
    pub buyer: String,
    /// At which instance.
    pub instance: String,
    /// What the buyer was told in the end; `None` where nobody sent such a purchase.
    pub told: Option<ResponseKind>,
    /// Whether its instance was killed while it was at it: a death was seen, and no answer came.
    pub killed: bool,
    /// How many of its steps are left out.
    pub left_out: usize,
    /// Units that it and others had taken when their instance was killed, and for which no order was recorded.
    #[serde(skip_serializing_if = "is_zero", default)]
    pub units_gone: i64,
}

fn is_zero(units: &i64) -> bool {
    *units == 0
}

/// One step of a story, or the same step with the same end taken several times in a row.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct StoryStep {
    /// Whose: a place among the purchases.
    pub purchase: usize,
    /// The shop's name for it.
    pub step: String,
    /// The role that it plays, if any.
    pub role: Option<Role>,
    /// How often it was taken.
    pub times: u32,
    /// When it began, in microseconds after the first step of the story.
    pub began_us: u64,
    /// When it ended for the last time; `None` where it never did.
    pub ended_us: Option<u64>,
    /// What came back, in a few words; `None` where it never ended.
    pub said: Option<String>,
}

impl Story {
    /// The story of a round that was judged so; `None` where nothing is wrong or the trace does not show it.
    pub fn of(
        trace: &Trace,
        expected: &Expectation,
        responses: &Responses,
        observations: &[Observation],
        judgement: &Judgement,
    ) -> Option<Self> {
        let (shows, size) = judgement.findings.found().next()?;
        let ledger = observations.iter().rfind(|look| look.at_rest).map(|look| &look.facts);
        let mut chosen = chosen(shows, trace, responses, ledger);
        chosen.truncate(MOST_PURCHASES);
        let struck = matches!(expected.fault, Some(FaultSeen::Struck { .. }));
        let mut story = Self::responses(shows, trace, &chosen, responses, struck)?;
        if let (Finding::Drift, Some(ledger)) = (shows, ledger) {
            for (purchase, told) in chosen.iter().zip(&mut story.purchases).filter(|(_, told)| told.killed) {
                let units = gone(purchase, &trace.purchases, responses, ledger) * expected.quantity;
                // With more of them than units are missing, some were not taken.
                told.units_gone = if units <= size { units } else { 0 };
            }
        }
        Some(story)
    }

    /// All that happened in a sale of a few purchases; `None` where nothing did.
    pub fn of_all(trace: &Trace, responses: &Responses) -> Option<Self> {
        let all: Vec<_> = trace.purchases.iter().take(MOST_PURCHASES).collect();
        Self::responses(Finding::Oversold, trace, &all, responses, false)
    }

    fn responses(
        shows: Finding,
        trace: &Trace,
        chosen: &[&TracedPurchase],
        responses: &Responses,
        struck: bool,
    ) -> Option<Self> {
        let origin = chosen
            .iter()
            .filter_map(|purchase| steps_of(purchase).next())
            .map(|step| step.began_ns)
            .min()?;
        let words = responses.purchases();
        let (mut purchases, mut steps) = (Vec::new(), Vec::new());
        for (place, purchase) in chosen.iter().enumerate() {
            let (kept, left_out) = cut(purchase, place, origin, chosen.len());
            let kind = words
                .iter()
                .find(|responses| responses.buyer == purchase.buyer)
                .map(|responses| responses.kind);
            purchases.push(StoryPurchase {
                buyer: purchase.buyer.clone(),
                instance: purchase.instance.clone(),
                told: kind,
                killed: struck && purchase.is_life_over && kind == Some(ResponseKind::Unknown),
                left_out,
                units_gone: 0,
            });
            steps.extend(kept);
        }
        let killed: Vec<bool> = purchases.iter().map(|purchase| purchase.killed).collect();
        let events = events(shows, trace, chosen, &killed, origin);
        steps.sort_by_key(|step| step.began_us);
        Some(Self {
            shows,
            purchases,
            steps,
            events,
        })
    }
}
