//! `POST /noop`, in lab mode alone: a purchase in all but the sale, beside which a benchmark measures what a sale costs.
//!
//! It sells nothing, so it is no part of the contract, and `openapi.json` does not name it.

use axum::Json;
use axum::Router;
use axum::extract::State;
use axum::extract::rejection::JsonRejection;
use axum::http::HeaderMap;
use axum::response::Response;
use axum::routing::post;

use super::App;
use super::problem::Problem;
use super::purchases::{PurchaseRequest, sold, wanted};

/// What `remaining` says: no store was asked.
const REMAINING: i64 = 0;

/// Outside lab mode there is nothing at this path.
pub(super) fn router(app: &App) -> Router<App> {
    match app.shop.lab {
        true => Router::new().route("/noop", post(noop)),
        false => Router::new(),
    }
}

/// Reads and checks a purchase as `POST /purchases` does, and answers as to a sale.
async fn noop(
    State(app): State<App>,
    headers: HeaderMap,
    request: Result<Json<PurchaseRequest>, JsonRejection>,
) -> Result<Response, Problem> {
    let (purchase, _) = wanted(&app, &headers, request)?;
    Ok(sold(&app, &purchase, Some(REMAINING)))
}
