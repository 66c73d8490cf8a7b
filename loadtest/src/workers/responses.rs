//! What buyers were told by a worker's share, as it goes over the wire.

use std::time::{Duration, Instant};

use serde::{Deserialize, Serialize};

use crate::responses::Responses;
use crate::shop::response::{Response, ResponseKind};

/// All of it. There is no follow-up: that is the run's.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub struct AssignmentResponses {
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
    kind: ResponseKind,
    order: Option<String>,
    instance: Option<String>,
    intended_us: u64,
    sent_us: u64,
    ended_us: u64,
    hung_up: bool,
}

impl AssignmentResponses {
    /// What was told since the share came at `begun`, until now.
    pub fn of(responses: Responses, begun: Instant) -> Self {
        let since = |responses: Vec<Response>| {
            responses
                .into_iter()
                .map(|response| ToldAnswer::of(response, begun))
                .collect()
        };
        Self {
            attack: since(responses.attack),
            repeats: since(responses.repeats),
            altered: since(responses.altered),
            took_us: begun.elapsed().as_micros() as u64,
        }
    }

    /// The same as if it had been let loose here, at `begun`, and was heard of at `back`: in between the share was on its way,
    /// and the report.
    pub fn responses(self, begun: Instant, back: Instant) -> Responses {
        let here = |responses: Vec<ToldAnswer>| responses.into_iter().map(|response| response.at(begun)).collect();
        Responses {
            attack: here(self.attack),
            follow_up: Vec::new(),
            repeats: here(self.repeats),
            altered: here(self.altered),
            apart: (back - begun).saturating_sub(Duration::from_micros(self.took_us)),
        }
    }
}

impl ToldAnswer {
    fn of(response: Response, begun: Instant) -> Self {
        let since = |at: Instant| at.saturating_duration_since(begun).as_micros() as u64;
        Self {
            number: response.number,
            key: response.key,
            buyer: response.buyer,
            quantity: response.quantity,
            kind: response.kind,
            order: response.order,
            instance: response.instance,
            intended_us: since(response.intended),
            sent_us: since(response.sent),
            ended_us: since(response.ended),
            hung_up: response.hung_up,
        }
    }

    fn at(self, begun: Instant) -> Response {
        let at = |us| begun + Duration::from_micros(us);
        Response {
            number: self.number,
            key: self.key,
            buyer: self.buyer,
            quantity: self.quantity,
            kind: self.kind,
            order: self.order,
            instance: self.instance,
            intended: at(self.intended_us),
            sent: at(self.sent_us),
            ended: at(self.ended_us),
            hung_up: self.hung_up,
        }
    }
}
