//! A step that a purchase took, and what it said.

use app::probe::{Step, StepResult};
use app::stores::sql::CONNECT;

/// A step that a purchase took.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Taken {
    /// The number under which the purchase arrived, from 0.
    pub purchase: usize,
    /// The step.
    pub step: Step,
    /// Its result; `None` while it is under way, or where it never ended.
    pub result: Option<StepResult>,
    /// Whether the reply to it was lost.
    pub has_no_reply: bool,
    /// The number of choices that had been made when it ended.
    pub ended_after: Option<usize>,
}

impl Taken {
    /// Creates a step that is under way.
    pub(crate) fn begun(purchase: usize, step: Step) -> Self {
        Self {
            purchase,
            step,
            result: None,
            has_no_reply: false,
            ended_after: None,
        }
    }

    /// Returns it with its result, for an error.
    pub(crate) fn in_words(&self) -> String {
        let said = self.result.as_ref().map_or("", |result| &*result.words);
        format!("{} {}: {said}", self.purchase, self.step.name)
    }

    /// Notes its result, after so many choices. Words that a replay may not repeat are left out.
    pub(crate) fn end(&mut self, result: &StepResult, choices: usize) {
        self.result = Some(match self.step.name {
            // Clients say it in different words.
            _ if self.has_no_reply => "no reply".into(),
            // A pool knows its connections from earlier schedules, which a replay does not have.
            name if name == CONNECT.name => "connected".into(),
            _ => result.clone(),
        });
        self.ended_after = Some(choices);
    }
}
