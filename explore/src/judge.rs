//! The verdict on a schedule: that of the load test's audit, on the responses and on both ledgers.

use std::time::Instant;

use app::domain::{Error, Outcome, Purchase};
use loadtest::audit::{Expectation, ExplainedUnknowns, FaultSeen, Finding, judge};
use loadtest::facts::{Facts, Observation};
use loadtest::responses::Responses;
use loadtest::shop::response::{Response, ResponseKind};

use crate::arrivals::Arrivals;

/// One purchase with what its buyer was told.
pub struct Told {
    /// The number under which it arrived.
    pub number: usize,
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

    fn response(&self) -> Response {
        let kind = self.kind();
        Response {
            number: self.number,
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

/// Returns the findings of a sale that was opened with one unit less than there are purchases, by both ledgers: name and
/// size of each. `later` is the purchase of a buyer that came when all others were over and units were left: if it waits in
/// vain, the sale is stuck, also where nothing was sold before. `is_struck` says that a process was killed or a reply was lost:
/// nothing else explains that a buyer is told nothing.
pub fn findings(
    arrivals: Arrivals,
    facts: Facts,
    told: &[Told],
    later: Option<&Told>,
    is_struck: bool,
) -> Vec<(&'static str, i64)> {
    let expected = Expectation {
        stock: arrivals.units(),
        quantity: 1,
        contended: false,
        instances: 1,
        fault: is_struck.then(|| FaultSeen::Struck {
            healed: Instant::now(),
            explains: ExplainedUnknowns::All,
            mistimed: None,
        }),
        absent: Vec::new(),
        is_atomic: false,
        failed_looks: Vec::new(),
    };
    let (again, first): (Vec<_>, _) = told.iter().partition(|told| arrivals.is_second(told.number));
    let responses = Responses {
        attack: first.into_iter().map(Told::response).collect(),
        repeats: again.into_iter().map(Told::response).collect(),
        follow_up: later.map(Told::response).into_iter().collect(),
        ..Responses::default()
    };
    let observation = Observation {
        begun: Instant::now(),
        at_rest: true,
        facts,
    };
    let mut findings = judge(&expected, &responses, &[observation]).findings.named();
    let (stuck, is_stuck) = (
        Finding::Stuck.name(),
        later.is_some_and(|later| later.kind() == ResponseKind::Busy),
    );
    if is_stuck && !findings.iter().any(|(name, _)| *name == stuck) {
        findings.push((stuck, 1));
    }
    findings
}
