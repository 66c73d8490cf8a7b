//! Lab headers: a buyer chooses the strategy, the work time and, with the admin token, a fault.

use std::time::Duration;

use axum::http::HeaderMap;

use super::problem::Problem;
use super::request::{authorize, bad_value, header};
use crate::instance::{Service, Shop};
use crate::probe::Fault;

const STRATEGY: &str = "x-strategy";
const WORK_MS: &str = "x-work-ms";
const FAULT: &str = "x-fault";

/// The longest business time that a request can ask for, in milliseconds. The proxy gives up on an instance after 15
/// seconds of silence, and the buyer would then never learn the outcome. The wait for a lock uses a part of these
/// seconds.
pub const MAX_WORK_MS: u64 = 5_000;

/// Returns how to serve this purchase. Outside lab mode a lab header is refused rather than ignored, because its sender
/// relies on it.
pub(super) fn service(shop: &Shop, headers: &HeaderMap) -> Result<Service, Problem> {
    let asked = |name: &'static str| match header(headers, name)? {
        Some(_) if !shop.lab => Err(Problem::NotInLab(name)),
        asked => Ok(asked),
    };
    let strategy = match asked(STRATEGY)? {
        None => shop.strategy.clone(),
        Some(name) => {
            let found = shop.catalogue.find(name).cloned();
            found.ok_or_else(|| Problem::UnknownStrategy {
                asked: name.chars().take(64).collect(),
                known: shop.catalogue.names(),
            })?
        }
    };
    if let Some(missing) = strategy.entry.missing(&shop.world.services) {
        return Err(missing.into());
    }
    let work = asked(WORK_MS)?.map_or(Ok(Duration::ZERO), work)?;
    let fault = asked(FAULT)?.map(|text| fault(shop, headers, text)).transpose()?;
    Ok(Service { strategy, work, fault })
}

fn work(text: &str) -> Result<Duration, Problem> {
    match text.parse() {
        Ok(ms @ 0..=MAX_WORK_MS) if !text.starts_with('+') => Ok(Duration::from_millis(ms)),
        _ => Err(Problem::BadValue {
            field: "X-Work-Ms",
            why: format!("must be 0 to {MAX_WORK_MS}"),
        }),
    }
}

fn fault(shop: &Shop, headers: &HeaderMap, text: &str) -> Result<Fault, Problem> {
    authorize(shop, headers)?;
    let fault = shop.fault(text).map_err(|error| bad_value("X-Fault", &error))?;
    match fault.at {
        Some(_) => Ok(fault),
        None => Err(Problem::BadValue {
            field: "X-Fault",
            why: "the fault of a purchase needs a @STEP".to_owned(),
        }),
    }
}
