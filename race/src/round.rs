//! The load of a round, and what came of it.

use std::collections::BTreeMap;

use loadtest::audit::{Findings, Judgement, Verdict, judge_sale_set};
use loadtest::shop::response::ResponseKind;
use serde::Serialize;

use crate::fault::Struck;
use crate::judged::{ItemSold, Orders, Sold};

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

/// What came of one item of a round with several.
#[derive(Clone, Debug, Serialize)]
pub struct ItemRound {
    /// Its name.
    pub name: String,
    /// The units in its orders; `None` where they are not read.
    pub recorded: Option<i64>,
    /// The units that are left.
    pub stock_left: i64,
    /// Its findings.
    pub findings: Findings,
}

/// A round that was played.
#[derive(Clone, Debug, Serialize)]
pub struct Round {
    /// The load.
    pub load: Load,
    /// The units of each item that were for sale.
    pub stock: i64,
    /// The number of buyers by what they were told.
    pub told: BTreeMap<ResponseKind, usize>,
    /// The units in the orders of all items; `None` where they are not read.
    pub recorded: Option<i64>,
    /// The units that are left of all items.
    pub stock_left: i64,
    /// Each item, where there are several.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub items: Vec<ItemRound>,
    /// How the raced requests were sent; `None` where none were.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub window: Option<Window>,
    /// What the fault did, in a race with one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub fault: Option<Struck>,
    /// The verdict.
    pub verdict: Verdict,
    /// The findings of all items.
    pub findings: Findings,
    /// Why the round proves nothing, if it does not.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub inconclusive: Option<String>,
    /// The first answer that says nothing, if there is one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub unclear: Option<String>,
}

impl Round {
    pub(crate) fn of(load: Load, sold: &Sold, seen: Seen) -> Self {
        let Seen {
            window,
            struck,
            unclear,
        } = seen;
        let judged: Vec<_> = sold.items.iter().map(|item| sold.judged(item)).collect();
        let is_read = |item: &ItemSold| item.orders != Orders::NotRead;
        let of_item = |(item, judgement): (&ItemSold, &Judgement)| ItemRound {
            name: item.name.clone(),
            recorded: is_read(item).then_some(judgement.recorded),
            stock_left: item.left,
            findings: judgement.findings.clone(),
        };
        let each = sold.items.iter().zip(&judged).map(of_item);
        let items = if judged.len() > 1 { each.collect() } else { Vec::new() };
        let Judgement {
            verdict,
            findings,
            inconclusive,
            recorded,
            ..
        } = judge_sale_set(judged);
        let mut told = BTreeMap::new();
        for buyer in sold.raced.iter().chain(&sold.later) {
            *told.entry(buyer.kind).or_default() += 1;
        }
        Self {
            load,
            stock: sold.stock,
            told,
            recorded: sold.items.iter().all(is_read).then_some(recorded),
            stock_left: sold.items.iter().map(|item| item.left).fold(0, i64::saturating_add),
            items,
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
