//! The trace of a sale: it starts with the sale or later, and is read at each instance.

use std::io;

use axum::Json;
use axum::extract::rejection::PathRejection;
use axum::extract::{Path, State};
use axum::http::StatusCode;
use axum::response::{IntoResponse, Response};
use serde::Serialize;
use tokio::task::spawn_blocking;

use super::App;
use super::problem::Problem;
use super::request::item;
use crate::domain::Name;
use crate::instance::Shop;
use crate::probe::Trace;

#[derive(Serialize)]
struct Answer<'a> {
    instance: &'a str,
    item: &'a str,
    #[serde(flatten)]
    trace: Trace,
}

/// Starts a trace, or ends an earlier one when `asked` is false.
pub(super) fn begin(shop: &Shop, item: &Name, asked: bool) -> Result<(), Problem> {
    match &shop.tracer {
        Some(tracer) if asked => match tracer.start(item)? {
            true => Ok(()),
            false => Err(Problem::TooManySales),
        },
        Some(tracer) => Ok(tracer.forget(item)?),
        None if asked => Err(Problem::BadValue {
            field: "trace",
            why: "this instance has no folder for traces".to_owned(),
        }),
        None => Ok(()),
    }
}

/// Ends a trace, if there is one.
pub(super) fn forget(shop: &Shop, item: &Name) -> Result<(), Problem> {
    let ended = shop.tracer.as_ref().map(|tracer| tracer.forget(item));
    Ok(ended.transpose().map(drop)?)
}

/// `PUT /sales/{item}/trace`: starts the trace at this instance. The sale itself does not change.
pub(super) async fn start(
    State(app): State<App>,
    path: Result<Path<String>, PathRejection>,
) -> Result<StatusCode, Problem> {
    begin(&app.shop, &item(path)?, true)?;
    Ok(StatusCode::NO_CONTENT)
}

/// `GET /sales/{item}/trace`: the trace of this instance so far.
pub(super) async fn read(
    State(app): State<App>,
    path: Result<Path<String>, PathRejection>,
) -> Result<Response, Problem> {
    let item = item(path)?;
    let Some(tracer) = app.shop.tracer.clone() else {
        return Err(Problem::NotTraced);
    };
    let asked = item.clone();
    let trace = spawn_blocking(move || tracer.read(&asked))
        .await
        .map_err(io::Error::from)??;
    let answer = Answer {
        instance: app.shop.instance.as_str(),
        item: item.as_str(),
        trace: trace.ok_or(Problem::NotTraced)?,
    };
    Ok(Json(answer).into_response())
}

/// `DELETE /sales/{item}/trace`: deletes the trace, which makes room for another one.
pub(super) async fn delete(
    State(app): State<App>,
    path: Result<Path<String>, PathRejection>,
) -> Result<StatusCode, Problem> {
    forget(&app.shop, &item(path)?)?;
    Ok(StatusCode::NO_CONTENT)
}
