//! What buyers were told by a worker's share, as it goes over the wire.

use std::time::{Duration, Instant};

use serde::{Deserialize, Serialize};

use crate::answer::{Answer, Word};
use crate::told::Told;

/// All of it. There is no follow-up: that is the run's.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub struct ToldShare {
    attack: Vec<ToldAnswer>,
    repeats: Vec<ToldAnswer>,
    altered: Vec<ToldAnswer>,
    took_us: u64,
}

/// One answer, with times in microseconds since the share came.
#[derive(Clone, Debug, Serialize, Deserialize)]
struct ToldAnswer {
    number: usize,
    key: String,
    buyer: String,
    quantity: i64,
    word: Word,
    order: Option<String>,
    instance: Option<String>,
    intended_us: u64,
    sent_us: u64,
    ended_us: u64,
    hung_up: bool,
}

impl ToldShare {
    /// What was told since the share came at `begun`, until now.
    pub fn of(told: Told, begun: Instant) -> Self {
        let since = |answers: Vec<Answer>| {
            answers
                .into_iter()
                .map(|answer| ToldAnswer::of(answer, begun))
                .collect()
        };
        Self {
            attack: since(told.attack),
            repeats: since(told.repeats),
            altered: since(told.altered),
            took_us: begun.elapsed().as_micros() as u64,
        }
    }

    /// The same as if it had been let loose here, at `begun`, and was heard of at `back`: in between the share was on its way,
    /// and the report.
    pub fn told(self, begun: Instant, back: Instant) -> Told {
        let here = |answers: Vec<ToldAnswer>| answers.into_iter().map(|answer| answer.at(begun)).collect();
        Told {
            attack: here(self.attack),
            follow_up: Vec::new(),
            repeats: here(self.repeats),
            altered: here(self.altered),
            apart: (back - begun).saturating_sub(Duration::from_micros(self.took_us)),
        }
    }
}

impl ToldAnswer {
    fn of(answer: Answer, begun: Instant) -> Self {
        let since = |at: Instant| at.saturating_duration_since(begun).as_micros() as u64;
        Self {
            number: answer.number,
            key: answer.key,
            buyer: answer.buyer,
            quantity: answer.quantity,
            word: answer.word,
            order: answer.order,
            instance: answer.instance,
            intended_us: since(answer.intended),
            sent_us: since(answer.sent),
            ended_us: since(answer.ended),
            hung_up: answer.hung_up,
        }
    }

    fn at(self, begun: Instant) -> Answer {
        let at = |us| begun + Duration::from_micros(us);
        Answer {
            number: self.number,
            key: self.key,
            buyer: self.buyer,
            quantity: self.quantity,
            word: self.word,
            order: self.order,
            instance: self.instance,
            intended: at(self.intended_us),
            sent: at(self.sent_us),
            ended: at(self.ended_us),
            hung_up: self.hung_up,
        }
    }
}
