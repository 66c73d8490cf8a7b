//! `GET /strategies`: the catalogue of strategies and their claims.

use axum::Json;
use axum::extract::State;
use axum::response::{IntoResponse, Response};
use serde::Serialize;

use super::App;
use crate::mechanism::Family;
use crate::probe::Step;
use crate::strategies::Entry;
use crate::world::World;

#[derive(Serialize)]
struct Described<'a> {
    name: &'a str,
    family: Family,
    lesson: u8,
    store: &'a str,
    summary: &'a str,
    claims: Vec<&'a str>,
    broken_by: Vec<&'a str>,
    sometimes_broken_by: &'a [&'a str],
    /// The step before which a fault does the most harm.
    weak_at: &'a str,
    /// The step before which a pause does the most harm.
    pause_at: &'a str,
    /// The step before which the stock was taken and the order is not entered yet, where these are two steps.
    record_at: Option<&'a str>,
    needs: &'a [&'a str],
    /// How long its lock lasts without renewal; null where the shop cannot say it.
    lease_ms: Option<u64>,
    /// The reason why it cannot be used here, if there is one.
    missing: Option<String>,
    /// The steps by which a background worker looks for what purchases have left; none where there is no worker.
    worker_steps: Vec<&'a str>,
    /// The steps that a fault can name.
    steps: Vec<&'a str>,
}

impl<'a> Described<'a> {
    fn new(entry: &'a Entry, world: &World) -> Self {
        let (mechanism, services) = (entry.mechanism, &world.services);
        let has_our_lease = mechanism.family == Family::LeaseLock;
        Self {
            name: &entry.name,
            family: mechanism.family,
            lesson: mechanism.lesson,
            store: entry.store,
            summary: mechanism.summary,
            claims: entry.claims(),
            broken_by: entry.broken_by(),
            sometimes_broken_by: mechanism.claims.sometimes_broken_by,
            weak_at: mechanism.weak_at,
            pause_at: entry.pause_at(),
            record_at: entry.record_at(),
            needs: &entry.needs,
            lease_ms: has_our_lease.then_some(world.timeouts.lease.as_millis() as u64),
            missing: entry.missing(services).map(|missing| missing.to_string()),
            worker_steps: named(entry.steps.iter().filter(|step| step.looks_for_work)),
            steps: named(entry.steps.iter()),
        }
    }
}

fn named<'a>(steps: impl Iterator<Item = &'a Step>) -> Vec<&'a str> {
    steps.map(|step| step.name).collect()
}

pub(super) async fn strategies(State(app): State<App>) -> Response {
    let world = &app.shop.world;
    let listed = app.shop.catalogue.iter();
    let all: Vec<_> = listed.map(|listed| Described::new(&listed.entry, world)).collect();
    Json(all).into_response()
}
