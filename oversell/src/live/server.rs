//! The page's server: the page, its events, and the two requests that need the token.

use std::convert::Infallible;
use std::sync::Arc;
use std::time::Duration;

use anyhow::{Context, Result};
use app::strategies::Entry;
use axum::extract::{DefaultBodyLimit, Request, State};
use axum::http::header::{AUTHORIZATION, HOST, ORIGIN};
use axum::http::{HeaderMap, StatusCode};
use axum::middleware::{Next, from_fn_with_state};
use axum::response::sse::{Event, KeepAlive, Sse};
use axum::response::{Html, IntoResponse, Response};
use axum::routing::{get, post};
use axum::{Json, Router};
use futures_util::stream;
use loadtest::report::live;
use serde::Deserialize;
use subtle::ConstantTimeEq;
use tokio::net::TcpListener;
use tokio::sync::Semaphore;
use tokio::time::sleep;

use super::Shared;
use super::lessons::lessons;
use super::request::RunRequest;
use super::steps;
use crate::interrupt::Stop;

/// The most visitors at once.
const MOST_VISITORS: usize = 200;

/// The pause between two events of one visitor.
const EVENT_EVERY: Duration = Duration::from_millis(100);

/// The most bytes of a request.
const MAX_BODY: usize = 4096;

/// Serves visitors until `stop` is set.
///
/// # Errors
/// When the listener fails.
pub async fn serve(listener: TcpListener, shared: Arc<Shared>, stop: &Stop) -> Result<()> {
    let names: Vec<String> = Entry::all().into_iter().map(|entry| entry.name).collect();
    let names: Vec<&str> = names.iter().map(String::as_str).collect();
    let page = live(&names, &lessons()?, &steps::labs()?);
    let visitors = Arc::new(Semaphore::new(MOST_VISITORS));
    let with_token = Router::new()
        .route("/run", post(start).delete(end))
        .route("/steps", post(begin_steps).put(choose_step).delete(end_steps))
        .layer(DefaultBodyLimit::max(MAX_BODY))
        .layer(from_fn_with_state(shared.clone(), guard));
    let routes = Router::new()
        .route("/", get(async || Html(page)))
        .route("/events", get(move |state| events(state, visitors)))
        .merge(with_token)
        .with_state(shared);
    tokio::select! {
        served = async { axum::serve(listener, routes).await } => served.context("the live page"),
        _ = stop.wait() => Ok(()),
    }
}

/// Lets only requests pass that have the token, and that no page of another origin has sent.
async fn guard(State(shared): State<Arc<Shared>>, request: Request, next: Next) -> Response {
    if !is_own_origin(request.headers()) {
        return (StatusCode::FORBIDDEN, "another page may not start a run").into_response();
    }
    let given = request.headers().get(AUTHORIZATION);
    let given = given.and_then(|value| value.as_bytes().strip_prefix(b"Bearer "));
    if !given.is_some_and(|given| bool::from(given.ct_eq(shared.token.as_bytes()))) {
        let why = "to start or to stop a run, open the address with its token";
        return (StatusCode::UNAUTHORIZED, why).into_response();
    }
    next.run(request).await
}

/// A browser names the page from which a request comes. Other programs name none.
fn is_own_origin(headers: &HeaderMap) -> bool {
    let Some(origin) = headers.get(ORIGIN) else { return true };
    let host = headers.get(HOST).and_then(|host| host.to_str().ok());
    let own = host.map(|host| [format!("http://{host}"), format!("https://{host}")]);
    own.is_some_and(|own| own.iter().any(|own| own.as_bytes() == origin.as_bytes()))
}

async fn start(State(shared): State<Arc<Shared>>, Json(wanted): Json<RunRequest>) -> Response {
    for place in 0..wanted.strategies.len() {
        if let Err(wrong) = wanted.options(place) {
            return (StatusCode::UNPROCESSABLE_ENTITY, wrong).into_response();
        }
    }
    match shared.start(wanted) {
        true => StatusCode::ACCEPTED.into_response(),
        false => (StatusCode::CONFLICT, "a run goes on: stop it first").into_response(),
    }
}

async fn end(State(shared): State<Arc<Shared>>) -> StatusCode {
    shared.end();
    StatusCode::NO_CONTENT
}

/// The lab whose steps are to be chosen.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Begin {
    lab: usize,
}

async fn begin_steps(State(shared): State<Arc<Shared>>, Json(Begin { lab }): Json<Begin>) -> Response {
    let labs = workshop::all().unwrap_or_default();
    let Some(lab) = labs.iter().find(|known| known.number == lab) else {
        return (StatusCode::UNPROCESSABLE_ENTITY, "there is no such lab").into_response();
    };
    match steps::begin(&shared, lab) {
        Ok(true) => StatusCode::ACCEPTED.into_response(),
        Ok(false) => (StatusCode::CONFLICT, "a schedule goes on: stop it first").into_response(),
        Err(error) => (StatusCode::UNPROCESSABLE_ENTITY, error.to_string()).into_response(),
    }
}

/// The number of a choice, from 1.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Chosen {
    number: usize,
}

async fn choose_step(State(shared): State<Arc<Shared>>, Json(Chosen { number }): Json<Chosen>) -> Response {
    match shared.choices.pass(number) {
        true => StatusCode::ACCEPTED.into_response(),
        false => (StatusCode::CONFLICT, "no schedule waits for a choice").into_response(),
    }
}

async fn end_steps(State(shared): State<Arc<Shared>>) -> StatusCode {
    shared.choices.end();
    StatusCode::NO_CONTENT
}

/// Sends what is shown, now and after each change.
async fn events(State(shared): State<Arc<Shared>>, visitors: Arc<Semaphore>) -> Response {
    let Ok(visitor) = visitors.try_acquire_owned() else {
        return (StatusCode::SERVICE_UNAVAILABLE, "too many visitors").into_response();
    };
    let mut shown = shared.state.watch();
    shown.mark_changed();
    let events = stream::unfold((shown, visitor), async |(mut shown, visitor)| {
        shown.changed().await.ok()?;
        sleep(EVENT_EVERY).await;
        let event = Event::default().json_data(&*shown.borrow_and_update()).ok()?;
        Some((Ok::<_, Infallible>(event), (shown, visitor)))
    });
    Sse::new(events).keep_alive(KeepAlive::default()).into_response()
}
