//! The story of a violated round: the steps of the few purchases that show the gravest finding.

mod chosen;
mod cut;
mod ended_late;
mod event;
mod held_up;
mod stuck;
mod updates;

use serde::{Deserialize, Serialize};

use self::chosen::{chosen, gone};
use self::cut::{MOST_STEPS, cut, steps_of, work_for};
use self::event::{MOST_EVENTS, events};
use super::event::Role;
use super::purchase::{Trace, TracedPurchase};
use super::value::StepValue;
use super::work::Work;
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
    /// The finding that they show.
    pub shows: Finding,
    /// The purchases: one column each.
    pub purchases: Vec<StoryPurchase>,
    /// The steps of the purchases, in the order of their begin.
    pub steps: Vec<StoryStep>,
    /// The events that are no steps, in the order of their begin. An older result has none.
    #[serde(skip_serializing_if = "Vec::is_empty", default)]
    pub events: Vec<StoryEvent>,
}

/// A purchase of a story.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct StoryPurchase {
    /// The buyer.
    pub buyer: String,
    /// The instance.
    pub instance: String,
    /// The final response to the buyer; `None` where no buyer sent such a purchase.
    pub told: Option<ResponseKind>,
    /// Whether its instance was killed before the response.
    pub killed: bool,
    /// The number of its steps that are left out.
    pub left_out: usize,
    /// The units without an order that this and other purchases had taken when their instance was killed.
    #[serde(skip_serializing_if = "is_zero", default)]
    pub units_gone: i64,
}

fn is_zero(units: &i64) -> bool {
    *units == 0
}

/// One step of a story, or several equal steps in a row with the same result.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct StoryStep {
    /// The place of the purchase in the story.
    pub purchase: usize,
    /// The worker that took it for the purchase; `None` where the purchase took it itself.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub worker: Option<StoryWorker>,
    /// The shop's name for it.
    pub step: String,
    /// The role that it plays, if any.
    pub role: Option<Role>,
    /// The number of times that it was taken.
    pub times: u32,
    /// The begin, in microseconds after the first step of the story.
    pub began_us: u64,
    /// The last end; `None` where the step never ended.
    pub ended_us: Option<u64>,
    /// The result, in a few words; `None` where the step never ended.
    pub said: Option<String>,
    /// The value in the result, if there is one.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub value: Option<StepValue>,
}

/// A background worker of an instance, which takes steps for purchases.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct StoryWorker {
    /// Its name.
    pub name: String,
    /// The instance.
    pub instance: String,
}

impl StoryStep {
    /// Returns whether the purchase took it itself.
    pub(crate) fn is_own(&self) -> bool {
        self.worker.is_none()
    }
}

impl Story {
    /// Returns whether it is as long as a story may be, so that it can be shown.
    pub(crate) fn is_within_limits(&self) -> bool {
        (1..=MOST_PURCHASES).contains(&self.purchases.len())
            && self.steps.len() <= MOST_STEPS
            && self.events.len() <= MOST_EVENTS
    }

    /// Returns the story of a round with this judgement. Returns `None` where nothing is wrong or the trace does not
    /// show it.
    pub fn of(
        trace: &Trace,
        expected: &Expectation,
        responses: &Responses,
        observations: &[Observation],
        judgement: &Judgement,
    ) -> Option<Self> {
        let (shows, size) = judgement.findings.found().next()?;
        let ledger = observations.iter().rfind(|look| look.at_rest).map(|look| &look.facts);
        let work = Work::of(trace);
        let mut chosen = chosen(shows, trace, &work, responses, ledger);
        chosen.truncate(MOST_PURCHASES);
        let struck = matches!(expected.fault, Some(FaultSeen::Struck { .. }));
        let mut story = Self::build(shows, trace, &work, &chosen, responses, struck)?;
        if let (Finding::Drift, Some(ledger)) = (shows, ledger) {
            let purchases = chosen.iter().zip(&mut story.purchases);
            for (purchase, shown) in purchases.filter(|(_, shown)| shown.killed) {
                let units = gone(purchase, &trace.purchases, responses, ledger) * expected.quantity;
                // Where fewer units are missing, some of these purchases took none.
                shown.units_gone = if units <= size { units } else { 0 };
            }
        }
        Some(story)
    }

    /// Returns the whole story of a sale of a few purchases; `None` where nothing happened.
    pub fn of_all(trace: &Trace, responses: &Responses) -> Option<Self> {
        let all: Vec<_> = trace.purchases.iter().take(MOST_PURCHASES).collect();
        Self::build(Finding::Oversold, trace, &Work::of(trace), &all, responses, false)
    }

    fn build(
        shows: Finding,
        trace: &Trace,
        work: &Work<'_>,
        chosen: &[&TracedPurchase],
        responses: &Responses,
        struck: bool,
    ) -> Option<Self> {
        let origin = chosen
            .iter()
            .filter_map(|purchase| steps_of(purchase).next())
            .map(|step| step.began_ns)
            .min()?;
        let outcomes = responses.purchases();
        let (mut purchases, mut steps) = (Vec::new(), work_for(chosen, work, origin));
        let most = (MOST_STEPS - steps.len()) / chosen.len().max(1);
        for (place, purchase) in chosen.iter().enumerate() {
            let (kept, left_out) = cut(purchase, place, origin, most);
            let kind = outcomes
                .iter()
                .find(|outcome| outcome.buyer == purchase.buyer)
                .map(|outcome| outcome.kind);
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
