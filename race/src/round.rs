//! The load of a round, and what came of it.

use std::collections::BTreeMap;

use loadtest::audit::{Findings, Judgement, Verdict};
use loadtest::shop::response::ResponseKind;
use serde::Serialize;

use crate::fault::Struck;
use crate::judged::Sold;

/// What the audit says of a round without a fault. Here most rounds have none.
const WITHOUT_FAULT: &str = ", although nothing was broken on purpose";

/// The load of a round.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Load {
    /// The control: buyers come one at a time, and every number has to be exact.
    OneByOne,
    /// So many buyers are made ready, and then each sends the raced request after the answer to the one before. What is violated
    /// here is no race: nothing asks for the stock in that request.
    InTurn(usize),
    /// All buyers are released at one moment.
    Race {
        /// The buyers.
        buyers: usize,
        /// How often each of them sends the raced request at that moment, in one session.
        clicks: usize,
        /// Whether the fault of the shop file is done to the shop meanwhile, if there is one.
        has_fault: bool,
    },
}

/// How raced requests were sent.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
pub struct Window {
    /// The time from the first to the last of their last bytes, as they left, in microseconds; 0 with HTTP/2, where all
    /// requests leave in one piece.
    pub us: u64,
    /// Whether they were sent with HTTP/2.
    pub is_http2: bool,
}

/// What was seen of a round besides its numbers.
#[derive(Default)]
pub struct Seen {
    /// How the raced requests were sent.
    pub window: Option<Window>,
    /// What the fault did.
    pub struck: Option<Struck>,
    /// The first answer that says nothing.
    pub unclear: Option<String>,
}

/// A round that was played.
#[derive(Clone, Debug, Serialize)]
pub struct Round {
    /// The load.
    pub load: Load,
    /// The units that were for sale.
    pub stock: i64,
    /// The number of buyers by what they were told.
    pub told: BTreeMap<ResponseKind, usize>,
    /// The units in the orders; `None` where they are not read.
    pub recorded: Option<i64>,
    /// The units that are left.
    pub stock_left: i64,
    /// How the raced requests were sent; `None` where none were.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub window: Option<Window>,
    /// What the fault did, in a race with one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub fault: Option<Struck>,
    /// The verdict.
    pub verdict: Verdict,
    /// The findings.
    pub findings: Findings,
    /// Why the round proves nothing, if it does not.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub inconclusive: Option<String>,
    /// The first answer that says nothing, if there is one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub unclear: Option<String>,
}

impl Round {
    pub(crate) fn of(load: Load, sold: &Sold, seen: Seen, has_orders: bool) -> Self {
        let Seen {
            window,
            struck,
            unclear,
        } = seen;
        let Judgement {
            verdict,
            findings,
            inconclusive,
            recorded,
            ..
        } = sold.judged();
        let mut told = BTreeMap::new();
        for buyer in sold.raced.iter().chain(&sold.later) {
            *told.entry(buyer.kind).or_default() += 1;
        }
        Self {
            load,
            stock: sold.stock,
            told,
            recorded: has_orders.then_some(recorded),
            stock_left: sold.left,
            window,
            verdict,
            findings,
            inconclusive: inconclusive.map(|why| match struck.as_ref().and_then(|struck| struck.missed) {
                Some(missed) => format!("the fault struck nothing: {missed}"),
                None => why.replace(WITHOUT_FAULT, ""),
            }),
            fault: struck,
            unclear,
        }
    }
}
