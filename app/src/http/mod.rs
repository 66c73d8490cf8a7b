//! The shop over HTTP: a public listener for buyers, an admin listener that is never proxied.
//!
//! The contract is `docs/contract.md` and, for machines, `openapi.json` beside this file.

mod admin;
mod catalogue;
mod health;
mod lab;
mod metrics;
mod noop;
mod problem;
mod purchases;
mod request;
mod server;
mod traces;

use std::sync::Arc;

use axum::Router;
use axum::extract::{DefaultBodyLimit, State};
use axum::http::header::{ALLOW, CONNECTION, CONTENT_TYPE};
use axum::http::{HeaderName, HeaderValue};
use axum::middleware::map_response_with_state;
use axum::response::{IntoResponse, Response};
use axum::routing::{MethodRouter, get, post};

pub use lab::MAX_WORK_MS;
pub use server::serve;

use uuid::Uuid;

use crate::instance::Shop;
use metrics::Metrics;
use problem::Problem;

/// The largest body, in bytes. No request of the contract needs more.
const MAX_BODY: usize = 16 * 1024;

/// The instance that answers.
const INSTANCE: HeaderName = HeaderName::from_static("x-instance");

/// The process that answers at the admin listener, new after each start: so a crash differs from a closed connection,
/// even if the instance returns at once.
const PROCESS: HeaderName = HeaderName::from_static("x-process");

/// The state that every handler shares.
#[derive(Clone)]
struct App {
    shop: Arc<Shop>,
    metrics: Arc<Metrics>,
    /// The instance's name.
    name: HeaderValue,
}

/// Returns the routes of both listeners, public and admin, over one shop.
pub fn routers(shop: Arc<Shop>) -> (Router, Router) {
    let name = shop.instance.as_str().parse();
    let app = App {
        metrics: Arc::new(Metrics::of(shop.catalogue.iter().count(), shop.counts())),
        shop,
        name: name.expect("a name is plain ASCII, which every header can hold"),
    };
    let named = |routes: Router| routes.layer(map_response_with_state(app.clone(), name_instance));
    let process = Uuid::new_v4().to_string();
    let admin = named(admin::router(app.clone())).layer(map_response_with_state(process, name_process));
    (named(public(app.clone())), admin)
}

fn public(app: App) -> Router {
    let routes = Router::new()
        .route("/purchases", post(purchases::purchase))
        .route("/deduct_stock", deduct_stock())
        .route("/strategies", get(catalogue::strategies))
        .route("/healthz", get(health::healthz))
        .route("/readyz", get(health::readyz))
        .route("/openapi.json", get(openapi))
        .merge(noop::router(&app));
    with_manners(routes).with_state(app)
}

/// Sells on GET, as in the tutorials, but not on HEAD, which axum would send to the same handler: a HEAD request must
/// not buy.
fn deduct_stock() -> MethodRouter<App> {
    let refuse = async || ([(ALLOW, "GET,POST")], Problem::MethodNotAllowed);
    get(purchases::deduct_stock)
        .post(purchases::deduct_stock)
        .head(refuse)
        .fallback(refuse)
}

async fn name_process(State(process): State<String>, mut response: Response) -> Response {
    // A UUID is plain ASCII.
    if let Ok(process) = process.parse() {
        response.headers_mut().insert(PROCESS, process);
    }
    response
}

/// Names the instance in every response, also in a refusal. While the instance is closing, the response also ends the
/// connection, so that the client does not send its next request into a closed one.
async fn name_instance(State(app): State<App>, mut response: Response) -> Response {
    response.headers_mut().insert(INSTANCE, app.name);
    if app.shop.is_closing() {
        let ends = HeaderValue::from_static("close");
        response.headers_mut().insert(CONNECTION, ends);
    }
    response
}

/// Adds to both listeners a body limit, and problem documents for an unknown path or method.
fn with_manners(routes: Router<App>) -> Router<App> {
    routes
        .fallback(async || Problem::NotFound)
        .method_not_allowed_fallback(async || Problem::MethodNotAllowed)
        .layer(DefaultBodyLimit::max(MAX_BODY))
}

async fn openapi() -> impl IntoResponse {
    ([(CONTENT_TYPE, "application/json")], include_str!("openapi.json"))
}
