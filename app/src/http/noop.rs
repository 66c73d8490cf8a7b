//! `POST /noop`, in lab mode only: a purchase without the sale. A benchmark compares it with a real purchase, to
//! measure the cost of a sale.
//!
//! It sells nothing, so it is not part of the contract, and `openapi.json` does not list it.

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

/// The value of `remaining`: no store was asked.
const REMAINING: i64 = 0;

/// Adds the route in lab mode. Outside lab mode the path is unknown.
pub(super) fn router(app: &App) -> Router<App> {
    match app.shop.lab {
        true => Router::new().route("/noop", post(noop)),
        false => Router::new(),
    }
}

/// Reads and checks a purchase like `POST /purchases`, and answers as for a sale.
async fn noop(
    State(app): State<App>,
    headers: HeaderMap,
    request: Result<Json<PurchaseRequest>, JsonRejection>,
) -> Result<Response, Problem> {
    let (purchase, _) = wanted(&app, &headers, request)?;
    Ok(sold(&app, &purchase, Some(REMAINING)))
}
