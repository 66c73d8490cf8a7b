//! The responses of a worker's assignment, as they go over the wire.

use std::time::{Duration, Instant};

use serde::{Deserialize, Serialize};

use crate::responses::Responses;
use crate::shop::response::{Response, ResponseKind};

/// All responses of an assignment. It has no follow-up: the run does that.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub struct AssignmentResponses {
    attack: Vec<TimedResponse>,
    repeats: Vec<TimedResponse>,
    altered: Vec<TimedResponse>,
    took_us: u64,
}

/// One response, with times in microseconds since the assignment came.
#[derive(Clone, Debug, Serialize, Deserialize)]
struct TimedResponse {
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
    sent_again: bool,
}

impl AssignmentResponses {
    /// Takes the responses since the assignment came at `begun`, until now.
    pub fn of(responses: Responses, begun: Instant) -> Self {
        let since = |responses: Vec<Response>| {
            responses
                .into_iter()
                .map(|response| TimedResponse::of(response, begun))
                .collect()
        };
        Self {
            attack: since(responses.attack),
            repeats: since(responses.repeats),
            altered: since(responses.altered),
            took_us: begun.elapsed().as_micros() as u64,
        }
    }

    /// Returns the responses on this machine's clock, as if they had begun at `begun`. The report came at `back`: the
    /// time that it does not cover was spent on the way, and by up to that much each response really came later.
    pub fn into_responses(self, begun: Instant, back: Instant) -> Responses {
        let here = |responses: Vec<TimedResponse>| responses.into_iter().map(|response| response.at(begun)).collect();
        Responses {
            attack: here(self.attack),
            repeats: here(self.repeats),
            altered: here(self.altered),
            apart: (back - begun).saturating_sub(Duration::from_micros(self.took_us)),
            ..Responses::default()
        }
    }
}

impl TimedResponse {
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
            sent_again: response.sent_again,
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
            sent_again: self.sent_again,
        }
    }
}
