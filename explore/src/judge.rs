//! The verdict on a schedule: that of the load test's audit, on the responses and on both ledgers.

use std::time::Instant;

use anyhow::Result;
use app::domain::{Error, Outcome, Purchase};
use loadtest::audit::{Expectation, ExplainedUnknowns, FaultSeen, judge};
use loadtest::facts::{LedgerReader, Observation, StorePair};
use loadtest::responses::Responses;
use loadtest::shop::response::{Response, ResponseKind};

/// The most orders of a sale that are read.
const MOST_ORDERS: usize = 100;

/// One purchase with what its buyer was told.
pub struct Told {
    /// The purchase.
    pub purchase: Purchase,
    /// The instance.
    pub instance: String,
    /// Whether its process was killed.
    pub is_killed: bool,
    /// The end; `None` for a purchase that was killed, or would have waited for ever.
    pub ended: Option<(Result<Outcome, Error>, Instant)>,
    /// When it began.
    pub began: Instant,
}

impl Told {
    /// Returns the kind of the response. A purchase that waits in vain is told busy in the end.
    pub fn kind(&self) -> ResponseKind {
        match self.ended.as_ref().map(|(ended, _)| ended) {
            Some(Ok(Outcome::Sold { .. } | Outcome::Repeated(_))) => ResponseKind::Sold,
            Some(Ok(Outcome::SoldOut)) => ResponseKind::SoldOut,
            None if self.is_killed => ResponseKind::Unknown,
            Some(Ok(Outcome::Busy)) | None => ResponseKind::Busy,
            Some(Ok(Outcome::UnknownItem)) => ResponseKind::Rejected,
            Some(Err(_)) => ResponseKind::Unknown,
        }
    }

    fn response(&self, number: usize) -> Response {
        let kind = self.kind();
        Response {
            number,
            key: self.purchase.key.as_ref().map(ToString::to_string).unwrap_or_default(),
            buyer: self.purchase.buyer.to_string(),
            quantity: i64::from(self.purchase.quantity),
            kind,
            order: (kind == ResponseKind::Sold).then(|| self.purchase.order.to_string()),
            instance: Some(self.instance.clone()),
            intended: self.began,
            sent: self.began,
            ended: self.ended.as_ref().map_or_else(Instant::now, |(_, ended)| *ended),
            hung_up: false,
            sent_again: false,
        }
    }
}

/// Reads the ledgers of a sale that was opened with `stock`, and returns the findings: name and size of each.
///
/// # Errors
/// When a store cannot be read.
pub async fn findings(
    reader: &LedgerReader,
    stores: StorePair,
    stock: i64,
    told: &[Told],
) -> Result<Vec<(&'static str, i64)>> {
    let Some(first) = told.first() else {
        return Ok(Vec::new());
    };
    let begun = Instant::now();
    let facts = reader.read(stores, first.purchase.item.as_str(), MOST_ORDERS).await?;
    let observation = Observation {
        begun,
        at_rest: true,
        facts,
    };
    let expected = Expectation {
        stock,
        quantity: i64::from(first.purchase.quantity),
        contended: false,
        instances: 1,
        fault: told.iter().any(|told| told.is_killed).then(|| FaultSeen::Struck {
            healed: Instant::now(),
            explains: ExplainedUnknowns::All,
            mistimed: None,
        }),
        absent: Vec::new(),
        is_atomic: false,
        failed_looks: Vec::new(),
    };
    let responses = Responses {
        attack: told
            .iter()
            .enumerate()
            .map(|(number, told)| told.response(number))
            .collect(),
        ..Responses::default()
    };
    Ok(judge(&expected, &responses, &[observation]).findings.named())
}
