//! `GET /strategies`: what there is to choose from, and what each one claims.

use axum::Json;
use axum::extract::State;
use serde::Serialize;

use super::App;
use crate::sale::{Family, Threat};
use crate::strategies::{self, Strategy};

#[derive(Serialize)]
pub(super) struct Entry {
    name: String,
    family: Family,
    store: &'static str,
    summary: &'static str,
    claims: &'static [Threat],
    needs: &'static [&'static str],
    /// Those that a fault can name.
    steps: Vec<&'static str>,
}

impl From<&dyn Strategy> for Entry {
    fn from(strategy: &dyn Strategy) -> Self {
        let about = strategy.about();
        Self {
            name: strategies::name(strategy),
            family: about.family,
            store: strategy.store(),
            summary: about.summary,
            claims: about.claims,
            needs: strategy.needs(),
            steps: strategy.steps().iter().map(|step| step.name).collect(),
        }
    }
}

pub(super) async fn strategies(State(app): State<App>) -> Json<Vec<Entry>> {
    Json(
        app.shop
            .catalogue
            .iter()
            .map(|strategy| Entry::from(strategy.as_ref()))
            .collect(),
    )
}
