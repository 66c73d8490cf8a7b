//! A schedule as it is kept in a file, so that it can be played again.

use anyhow::{Context, Result, ensure};
use loadtest::shop::response::ResponseKind;
use loadtest::trace::{Role, StepValue};
use serde::{Deserialize, Serialize};

use crate::arrivals::{Arrivals, INSTANCES};
use crate::choice::{Choice, EventKind};
use crate::play::Play;
use crate::workers::Work;

/// A schedule of one strategy, and what it led to.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Schedule {
    /// `mechanism@store`
    pub strategy: String,
    /// The choices, which suffice to play it again.
    pub choices: Vec<Choice>,
    /// The number of instances.
    #[serde(skip_serializing_if = "is_usual", default = "usual")]
    pub instances: usize,
    /// What happened at each choice.
    pub lines: Vec<Line>,
    /// The steps of background workers.
    #[serde(skip_serializing_if = "Vec::is_empty", default)]
    pub work: Vec<WorkLine>,
    /// The response to each purchase.
    pub told: Vec<ResponseKind>,
    /// The responses to second arrivals, each with the number of its purchase.
    #[serde(skip_serializing_if = "Vec::is_empty", default)]
    pub told_again: Vec<(usize, ResponseKind)>,
    /// The response to a buyer who came after all of them, where units were left then.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub told_later: Option<ResponseKind>,
    /// The findings: name and size of each.
    pub findings: Vec<(String, i64)>,
}

/// What happened at one choice.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Line {
    /// The choice.
    pub choice: Choice,
    /// The step, as its strategy names it; `None` for an event.
    pub step: Option<String>,
    /// The result of the step, in a few words; `None` where it never ended.
    pub said: Option<String>,
    /// The value in the result, if there is one.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub value: Option<StepValue>,
    /// The role that the step plays in a sale, if any.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub role: Option<Role>,
    /// The number of choices after which it ended, where the step had to wait for others.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub waited_until: Option<usize>,
}

/// A step of a background worker, other than those that it takes without work.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct WorkLine {
    /// The number of choices that had been made before.
    pub after: usize,
    /// The instance, from 0.
    pub instance: usize,
    /// The name of the worker.
    pub worker: String,
    /// The step, as its strategy names it.
    pub step: String,
    /// The arrival that it concerns; `None` where it may concern any.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub arrival: Option<usize>,
    /// The result, in a few words; `None` where it never ended.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub said: Option<String>,
    /// The value in the result, if there is one.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub value: Option<StepValue>,
    /// The role that the step plays in a sale, if any.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub role: Option<Role>,
}

impl Schedule {
    /// Creates the schedule of a play.
    pub fn of(strategy: &str, play: &Play) -> Self {
        let mut taken = play.taken.iter();
        let lines = play.choices.iter().enumerate().map(|(number, choice)| {
            let taken = choice.step().and_then(|_| taken.next());
            let said = taken.and_then(|taken| taken.result.as_ref());
            Line {
                choice: *choice,
                step: taken.map(|taken| taken.step.name.to_owned()),
                said: said.map(|said| said.words.to_string()),
                value: said.and_then(|said| said.value).map(value),
                role: taken.and_then(|taken| taken.step.role).map(role),
                waited_until: taken
                    .and_then(|taken| taken.ended_after)
                    .filter(|after| *after > number + 1),
            }
        });
        Self {
            strategy: strategy.to_owned(),
            choices: play.choices.clone(),
            instances: play.instances,
            lines: lines.collect(),
            work: play.work.iter().map(WorkLine::of).collect(),
            told: play.told.clone(),
            told_again: play.told_again.clone(),
            told_later: play.told_later,
            findings: play
                .findings
                .iter()
                .map(|(name, size)| ((*name).to_owned(), *size))
                .collect(),
        }
    }

    /// Reads a file's content.
    ///
    /// # Errors
    /// When it is no schedule.
    pub fn parse(json: &[u8]) -> Result<Self> {
        let schedule: Self = serde_json::from_slice(json).context("this is not a schedule of oversell")?;
        let Arrivals { purchases, instances } = schedule.arrivals();
        ensure!(
            (2..=3).contains(&purchases),
            "a schedule has two or three purchases, not {purchases}"
        );
        ensure!(
            (1..=INSTANCES).contains(&instances),
            "a schedule has one or two instances, not {instances}"
        );
        Ok(schedule)
    }

    /// Returns whether both went alike. An earlier version kept neither roles nor values: a step always plays the same role, and
    /// its words contain the value. It kept no results of workers either, some of which tell a time.
    pub fn went_as(&self, other: &Self) -> bool {
        self.in_words() == other.in_words()
    }

    fn in_words(&self) -> Self {
        let mut schedule = self.clone();
        for line in &mut schedule.lines {
            (line.role, line.value) = (None, None);
        }
        for work in &mut schedule.work {
            (work.role, work.value, work.arrival, work.said) = (None, None, None, None);
        }
        schedule
    }

    /// Returns the kinds of its events.
    pub fn kinds(&self) -> Vec<EventKind> {
        self.choices.iter().filter_map(|choice| choice.event()).collect()
    }

    /// Returns the line at which the late request was sent that arrives at the choice of this number, from 0.
    pub(crate) fn sent_late(&self, purchase: usize, arrival: usize) -> Option<&Line> {
        let before = &self.lines[..arrival];
        let arrived = before.iter().filter(|line| line.choice == Choice::Arrival(purchase));
        let mut sent = before
            .iter()
            .filter(|line| line.choice == Choice::LateRequest(purchase));
        sent.nth(arrived.count())
    }

    /// Returns the numbers under which its purchases arrive.
    pub fn arrivals(&self) -> Arrivals {
        Arrivals {
            purchases: self.told.len(),
            instances: self.instances,
        }
    }

    /// Returns it as a file's content.
    ///
    /// # Errors
    /// None that is known.
    pub fn to_json(&self) -> Result<String> {
        Ok(serde_json::to_string_pretty(self)? + "\n")
    }
}

/// The number of instances in a file that does not say it.
fn usual() -> usize {
    INSTANCES
}

fn is_usual(instances: &usize) -> bool {
    *instances == INSTANCES
}

impl WorkLine {
    /// Returns the worker with its step, the arrival that it concerns, and the result.
    pub(crate) fn in_words(&self, arrivals: Arrivals) -> String {
        let concerned = self
            .arrival
            .map_or_else(String::new, |arrival| format!(" for {}", arrivals.called(arrival)));
        let said = self.said.as_ref().map_or_else(String::new, |said| format!(": {said}"));
        let (worker, instance) = (&self.worker, self.instance + 1);
        format!("{worker} of app-{instance}{concerned}: {}{said}", self.step)
    }

    fn of(work: &Work) -> Self {
        Self {
            after: work.after,
            instance: work.instance,
            worker: work.worker.to_owned(),
            step: work.step.name.to_owned(),
            arrival: work.arrival,
            said: work.result.as_ref().map(|result| result.words.to_string()),
            value: work.result.as_ref().and_then(|result| result.value).map(value),
            role: work.step.role.map(role),
        }
    }
}

fn value(of: app::probe::StepValue) -> StepValue {
    match of {
        app::probe::StepValue::Left(units) => StepValue::Left(units),
        app::probe::StepValue::Wrote(units) => StepValue::Wrote(units),
        app::probe::StepValue::Fence(fence) => StepValue::Fence(fence),
        app::probe::StepValue::Taken(is_taken) => StepValue::Taken(is_taken),
    }
}

fn role(of: app::probe::Role) -> Role {
    match of {
        app::probe::Role::Lock => Role::Lock,
        app::probe::Role::Permit => Role::Permit,
        app::probe::Role::Read => Role::Read,
        app::probe::Role::Write => Role::Write,
        app::probe::Role::Record => Role::Record,
        app::probe::Role::Commit => Role::Commit,
        app::probe::Role::Release => Role::Release,
        app::probe::Role::Renew => Role::Renew,
        app::probe::Role::Verify => Role::Verify,
    }
}
