//! Purchases: `POST /purchases`, and `/deduct_stock` as in the tutorials.

use std::time::Instant;

use axum::Json;
use axum::extract::State;
use axum::extract::rejection::JsonRejection;
use axum::http::{HeaderMap, HeaderName, HeaderValue, StatusCode};
use axum::response::{IntoResponse, Response};
use serde::{Deserialize, Serialize};

use super::problem::Problem;
use super::request::{header, name};
use super::{App, lab};
use crate::domain::{MAX_QUANTITY, Name, Outcome, Purchase};
use crate::instance::Service;

/// The header with the buyer's own name for a purchase. Two purchases with one key are sold at most once.
const IDEMPOTENCY_KEY: &str = "idempotency-key";

/// The header of a response that repeats an earlier one: `true`.
const REPLAYED: HeaderName = HeaderName::from_static("idempotent-replayed");

/// The buyer of `/deduct_stock`.
const NOBODY: &str = "anonymous";

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct PurchaseRequest {
    item: String,
    quantity: u32,
    buyer: String,
}

#[derive(Serialize)]
struct Sold<'a> {
    order: String,
    item: &'a str,
    quantity: u32,
    remaining: Option<i64>,
    instance: &'a str,
}

/// `POST /purchases`
pub(super) async fn purchase(
    State(app): State<App>,
    headers: HeaderMap,
    request: Result<Json<PurchaseRequest>, JsonRejection>,
) -> Result<Response, Problem> {
    let (purchase, service) = wanted(&app, &headers, request)?;
    sell(&app, purchase, service).await
}

/// Returns the purchase that the buyer asks for, and how to serve it.
pub(super) fn wanted(
    app: &App,
    headers: &HeaderMap,
    request: Result<Json<PurchaseRequest>, JsonRejection>,
) -> Result<(Purchase, Service), Problem> {
    let service = lab::service(&app.shop, headers)?;
    let Json(request) = request?;
    if !(1..=MAX_QUANTITY).contains(&request.quantity) {
        return Err(Problem::BadValue {
            field: "quantity",
            why: format!("must be 1 to {MAX_QUANTITY}"),
        });
    }
    let item = name("item", &request.item)?;
    let buyer = name("buyer", &request.buyer)?;
    let key = key(headers)?;
    Ok((Purchase::new(item, request.quantity, buyer, key), service))
}

/// `GET /deduct_stock`, `POST /deduct_stock`: one unit of the default item.
pub(super) async fn deduct_stock(State(app): State<App>, headers: HeaderMap) -> Result<Response, Problem> {
    let service = lab::service(&app.shop, &headers)?;
    let purchase = Purchase::new(app.shop.item.clone(), 1, name("buyer", NOBODY)?, key(&headers)?);
    sell(&app, purchase, service).await
}

async fn sell(app: &App, purchase: Purchase, service: Service) -> Result<Response, Problem> {
    let strategy = service.strategy.clone();
    let start = Instant::now();
    let outcome = app.shop.sell(purchase.clone(), service).await;
    app.metrics.purchase(&strategy, &outcome, start.elapsed());
    match outcome? {
        Outcome::Sold { remaining } => Ok(sold(app, &purchase, Some(remaining)).into_response()),
        Outcome::Repeated(order) => {
            if order.quantity != purchase.quantity || order.buyer != purchase.buyer.as_str() {
                return Err(Problem::KeyReused);
            }
            let replayed = [(REPLAYED, HeaderValue::from_static("true"))];
            Ok((replayed, sold(app, &purchase, None)).into_response())
        }
        Outcome::SoldOut => Err(Problem::SoldOut),
        Outcome::Busy => Err(Problem::Busy),
        Outcome::UnknownItem => Err(Problem::UnknownItem),
    }
}

/// Returns the response to a purchase that is recorded.
pub(super) fn sold(app: &App, purchase: &Purchase, remaining: Option<i64>) -> Response {
    let body = Sold {
        order: purchase.order.to_string(),
        item: purchase.item.as_str(),
        quantity: purchase.quantity,
        remaining,
        instance: app.shop.instance.as_str(),
    };
    (StatusCode::CREATED, Json(body)).into_response()
}

fn key(headers: &HeaderMap) -> Result<Option<Name>, Problem> {
    header(headers, IDEMPOTENCY_KEY)?
        .map(|key| name("Idempotency-Key", key))
        .transpose()
}
