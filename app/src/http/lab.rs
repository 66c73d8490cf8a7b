//! Lab headers: how a buyer chooses strategy, work time and, with the admin token, a fault.

use std::time::Duration;

use axum::http::HeaderMap;

use super::problem::Problem;
use super::request::{authorize, bad_value, header};
use crate::instance::{Service, Shop};
use crate::probe::Fault;

const STRATEGY: &str = "x-strategy";
const WORK_MS: &str = "x-work-ms";
const FAULT: &str = "x-fault";

/// The longest business time that can be asked for, in milliseconds. The proxy gives up an instance that is silent for
/// 15 seconds, and the buyer would never hear what became of the purchase; the wait for a turn takes its part of them.
pub const MAX_WORK_MS: u64 = 5_000;

/// How this purchase is to be served. Outside lab mode a lab header is refused rather than passed over in silence: who
/// sends one believes that it counts.
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
            why: "a purchase's fault needs its @STEP".to_owned(),
        }),
    }
}
