//! Doubts that are planted in an honest history. With each of them the round must decide nothing.

use std::time::Duration;

use loadtest::audit::Absence;
use loadtest::shop::response::{Response, ResponseKind};

use super::history::History;

/// A doubt: its name, words of the reason, and how it is planted. No finding shows it.
pub type Doubt = (&'static str, &'static str, fn(&mut History, usize));

pub const DOUBTS: &[Doubt] = &[
    ("an altered key told busy", "was not refused", |h, _| {
        h.responses
            .altered
            .retain(|response| response.kind == ResponseKind::Rejected);
        h.responses.altered[0].kind = ResponseKind::Busy;
    }),
    ("an altered key told busy in the end", "was not refused", |h, _| {
        let last = h.responses.altered.last().unwrap().clone();
        let ended = last.ended + Duration::from_micros(1);
        h.responses.altered.push(Response {
            kind: ResponseKind::Busy,
            ended,
            ..last
        });
    }),
    ("a reading that failed", "of the ledger failed", |h, sale| {
        h.expected.failed_looks.push(h.responses.attack[sale].sent);
    }),
    ("an answer without a name", "without a name", |h, sale| {
        is_absent(h, sale, Some("c".to_owned()), true);
        h.responses.attack[sale].instance = None;
    }),
    ("an answer of the dead", "that was dead answered", |h, sale| {
        let instance = h.responses.attack[sale].instance.clone();
        is_absent(h, sale, instance, true);
    }),
    (
        "an answer of a process that stood still",
        "that stood still answered",
        |h, sale| {
            let instance = h.responses.attack[sale].instance.clone();
            is_absent(h, sale, instance, false);
        },
    ),
    (
        "nobody had to wait for one that stood still",
        "was answered at once",
        |h, sale| {
            h.expected.instances = 2;
            is_absent(h, sale, Some("c".to_owned()), false);
            let Absence { from, to, .. } = h.expected.absent[0];
            for number in 200..204 {
                let mut busy = h.responses.attack[sale].clone();
                (busy.number, busy.key, busy.buyer) = (number, format!("k-{number}"), format!("b-{number}"));
                (busy.kind, busy.order) = (ResponseKind::Busy, None);
                (busy.sent, busy.ended) = (from + (to - from) / 4, from + (to - from) / 2);
                h.responses.attack.push(busy);
            }
        },
    ),
    (
        "answers of all while a nameless one was dead",
        "all instances answered",
        |h, sale| {
            is_absent(h, sale, None, true);
        },
    ),
];

/// Says that the instance could not answer for a second in whose middle that sale was answered.
fn is_absent(history: &mut History, sale: usize, instance: Option<String>, is_death: bool) {
    let half = Duration::from_millis(500);
    let ended = &mut history.responses.attack[sale].ended;
    *ended += half * 2;
    let (from, to) = (*ended - half, *ended + half);
    history.expected.absent.push(Absence {
        instance,
        from,
        to,
        is_back: true,
        is_death,
    });
}
