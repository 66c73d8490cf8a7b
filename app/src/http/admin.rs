//! The admin listener: opens, shows and closes a sale, accepts faults, serves metrics. Every route needs the bearer
//! token.

use std::collections::BTreeMap;
use std::num::NonZeroU32;

use axum::extract::rejection::{JsonRejection, PathRejection};
use axum::extract::{Path, Request, State};
use axum::http::StatusCode;
use axum::http::header::CONTENT_TYPE;
use axum::middleware::{Next, from_fn_with_state};
use axum::response::{IntoResponse, Response};
use axum::routing::{get, post};
use axum::{Json, Router};
use serde::{Deserialize, Deserializer, Serialize};

use super::problem::Problem;
use super::request::{authorize, bad_value, item};
use super::{App, traces, with_manners};
use crate::domain::MAX_STOCK;
use crate::reconciler::Pending;
use crate::stores::{Ledger, MAX_SALES};

pub(super) fn router(app: App) -> Router {
    let routes = Router::new()
        .route("/sales/{item}", get(look).put(open_sale).delete(close_sale))
        .route(
            "/sales/{item}/trace",
            get(traces::read).put(traces::start).delete(traces::delete),
        )
        .route("/faults", post(fault).delete(disarm))
        .route("/metrics", get(metrics));
    with_manners(routes)
        .layer(from_fn_with_state(app.clone(), guard))
        .with_state(app)
}

async fn guard(State(app): State<App>, request: Request, next: Next) -> Result<Response, Problem> {
    authorize(&app.shop, request.headers())?;
    Ok(next.run(request).await)
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Opening {
    stock: i64,
    #[serde(default)]
    trace: bool,
}

#[derive(Serialize)]
struct Opened<'a> {
    item: &'a str,
    stock: i64,
}

/// `PUT /sales/{item}`: opens the sale in every store, with an empty ledger.
async fn open_sale(
    State(app): State<App>,
    path: Result<Path<String>, PathRejection>,
    opening: Result<Json<Opening>, JsonRejection>,
) -> Result<Response, Problem> {
    let item = item(path)?;
    let Json(Opening { stock, trace }) = opening?;
    if !(0..=MAX_STOCK).contains(&stock) {
        return Err(Problem::BadValue {
            field: "stock",
            why: format!("must be 0 to {MAX_STOCK}"),
        });
    }
    for (_, store) in app.shop.world.all_stores().await {
        if store.other_sales(&item).await? >= MAX_SALES {
            return Err(Problem::TooManySales);
        }
    }
    traces::begin(&app.shop, &item, trace)?;
    app.shop.open_sale(&item, stock).await?;
    let item = item.as_str();
    Ok(Json(Opened { item, stock }).into_response())
}

/// A sale in one store.
#[derive(Serialize)]
struct Looked {
    opened: i64,
    left: i64,
    orders: i64,
    units: i64,
    /// The units sold beyond the stock that the sale was opened with.
    oversold: i64,
}

#[derive(Serialize)]
struct Looks<'a> {
    item: &'a str,
    stores: BTreeMap<&'static str, Looked>,
    pending: Pending,
}

/// `GET /sales/{item}`: counter and ledger in each store, and the pending purchases.
async fn look(State(app): State<App>, path: Result<Path<String>, PathRejection>) -> Result<Response, Problem> {
    let item = item(path)?;
    let mut stores = BTreeMap::new();
    for (name, store) in app.shop.world.all_stores().await {
        if let Some(ledger) = store.look(&item).await? {
            let Ledger {
                opened,
                left,
                orders,
                units,
            } = ledger;
            let oversold = (units - opened).max(0);
            stores.insert(
                name,
                Looked {
                    opened,
                    left,
                    orders,
                    units,
                    oversold,
                },
            );
        }
    }
    if stores.is_empty() {
        return Err(Problem::UnknownItem);
    }
    let pending = app.shop.pending(&item).await?;
    let item = item.as_str();
    Ok(Json(Looks { item, stores, pending }).into_response())
}

/// `DELETE /sales/{item}`: deletes the sale and its ledger in every store.
async fn close_sale(State(app): State<App>, path: Result<Path<String>, PathRejection>) -> Result<StatusCode, Problem> {
    let item = item(path)?;
    app.shop.close_sale(&item).await?;
    traces::forget(&app.shop, &item)?;
    Ok(StatusCode::NO_CONTENT)
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Asked {
    fault: String,
    /// Absent, not null: serde alone would take null for absent, and the OpenAPI document does not.
    #[serde(default, deserialize_with = "present")]
    worker_step: Option<NonZeroU32>,
}

fn present<'de, D: Deserializer<'de>>(field: D) -> Result<Option<NonZeroU32>, D::Error> {
    NonZeroU32::deserialize(field).map(Some)
}

/// `POST /faults`: the fault strikes at once, or is armed for the first actor that reaches the named step, or for the
/// background worker that takes the `worker_step`th step for an item from now on.
async fn fault(State(app): State<App>, asked: Result<Json<Asked>, JsonRejection>) -> Result<StatusCode, Problem> {
    if !app.shop.lab {
        return Err(Problem::NotInLab("a fault"));
    }
    let Json(asked) = asked?;
    let fault = app
        .shop
        .fault(&asked.fault)
        .map_err(|error| bad_value("fault", &error))?;
    if let Some(nth) = asked.worker_step {
        if fault.at.is_some() {
            let why = "a fault of a worker names no step: the worker_step is its moment".to_owned();
            return Err(Problem::BadValue { field: "fault", why });
        }
        app.shop.worker_fault.arm(fault.action, nth);
        return Ok(StatusCode::ACCEPTED);
    }
    if fault.at.is_some() {
        return match app.shop.faults.arm(fault) {
            true => Ok(StatusCode::ACCEPTED),
            false => Err(Problem::TooManyFaults),
        };
    }
    // The response is sent before the fault strikes: otherwise the client would not learn that it was accepted.
    tokio::spawn(async move {
        tokio::time::sleep(std::time::Duration::from_millis(20)).await;
        fault.action.inject().await;
    });
    Ok(StatusCode::ACCEPTED)
}

/// `DELETE /faults`: forgets the armed faults.
async fn disarm(State(app): State<App>) -> StatusCode {
    app.shop.faults.disarm();
    app.shop.worker_fault.disarm();
    StatusCode::NO_CONTENT
}

async fn metrics(State(app): State<App>) -> impl IntoResponse {
    let text = "application/openmetrics-text; version=1.0.0; charset=utf-8";
    ([(CONTENT_TYPE, text)], app.metrics.encode(&app.shop))
}
