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

/// No request of the contract needs more, in bytes.
const MAX_BODY: usize = 16 * 1024;

/// Which instance answers.
const INSTANCE: HeaderName = HeaderName::from_static("x-instance");

/// Which process answers at the admin listener: another one after each start, so that a crash can be told from a closed
/// connection however soon the instance is back.
const PROCESS: HeaderName = HeaderName::from_static("x-process");

/// What every handler can reach.
#[derive(Clone)]
struct App {
    shop: Arc<Shop>,
    metrics: Arc<Metrics>,
    /// The instance's name.
    name: HeaderValue,
}

/// The two listeners' routes, public and admin, over one shop.
pub fn routers(shop: Arc<Shop>) -> (Router, Router) {
    let name = shop.instance.as_str().parse();
    let app = App {
        metrics: Arc::new(Metrics::of(shop.catalogue.iter().count())),
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

/// Sells on GET, as the tutorials have it, but not on HEAD, which would otherwise be answered by the same handler: who
/// only looks must not buy.
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

/// Says on every answer, also on a refusal, which instance gave it; and while that is closing, that the connection ends:
/// whoever kept it would send the next request to nobody.
async fn name_instance(State(app): State<App>, mut response: Response) -> Response {
    response.headers_mut().insert(INSTANCE, app.name);
    if app.shop.is_closing() {
        let ends = HeaderValue::from_static("close");
        response.headers_mut().insert(CONNECTION, ends);
    }
    response
}

/// What both listeners have in common: a body limit, and problem documents where no route or method matches.
fn with_manners(routes: Router<App>) -> Router<App> {
    routes
        .fallback(async || Problem::NotFound)
        .method_not_allowed_fallback(async || Problem::MethodNotAllowed)
        .layer(DefaultBodyLimit::max(MAX_BODY))
}

async fn openapi() -> impl IntoResponse {
    ([(CONTENT_TYPE, "application/json")], include_str!("openapi.json"))
}
