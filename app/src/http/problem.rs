//! Every response that is not a success, as an RFC 9457 problem document with a stable type.

use axum::Json;
use axum::extract::rejection::{JsonRejection, PathRejection};
use axum::http::header::{CONTENT_TYPE, HeaderValue, RETRY_AFTER, WWW_AUTHENTICATE};
use axum::http::{HeaderName, StatusCode};
use axum::response::{IntoResponse, Response};

use crate::domain::Error;
use crate::services::Missing;

/// The seconds after which a buyer may retry a busy purchase.
const RETRY_AFTER_S: &str = "1";

/// The problems of a request or of the shop.
#[derive(Debug, thiserror::Error)]
pub(super) enum Problem {
    /// 409
    #[error("fewer units are left than were asked for")]
    SoldOut,
    /// 503 with Retry-After
    #[error("the shop is busy; nothing was sold")]
    Busy,
    /// 404
    #[error("no sale of this item is open")]
    UnknownItem,
    /// 404
    #[error("no strategy is called {asked}; the strategies are: {known}")]
    UnknownStrategy { asked: String, known: String },
    /// 501
    #[error("the strategy {0}")]
    ServiceMissing(#[from] Missing),
    /// 422
    #[error("{field}: {why}")]
    BadValue { field: &'static str, why: String },
    /// 422
    #[error("this Idempotency-Key was used for another purchase")]
    KeyReused,
    /// The status of the framework's own check of body and path: 400, 413, 415 or 422.
    #[error("{1}")]
    BadRequest(StatusCode, String),
    /// 403
    #[error("{0} is allowed in lab mode only, and this shop is not in lab mode")]
    NotInLab(&'static str),
    /// 401
    #[error("this request needs the admin token in the header Authorization: Bearer")]
    Unauthorized,
    /// 409
    #[error("too many sales are open: close one first")]
    TooManySales,
    /// 409
    #[error("too many faults are armed already")]
    TooManyFaults,
    /// 404
    #[error("this sale is not traced at this instance")]
    NotTraced,
    /// 404
    #[error("there is nothing at this path")]
    NotFound,
    /// 405
    #[error("this path does not support the method")]
    MethodNotAllowed,
    /// 503
    #[error("the shop is closing or cannot reach a store")]
    NotReady,
    /// 500
    #[error("the trace could not be written or read")]
    Trace(#[from] std::io::Error),
    /// 500: the only response that leaves it unknown whether a sale took place.
    #[error("a store failed: it is unknown whether the request was carried out")]
    Store(#[from] Error),
}

impl Problem {
    fn status_and_type(&self) -> (StatusCode, &'static str) {
        match self {
            Self::SoldOut => (StatusCode::CONFLICT, "sold-out"),
            Self::Busy => (StatusCode::SERVICE_UNAVAILABLE, "busy"),
            Self::UnknownItem => (StatusCode::NOT_FOUND, "unknown-item"),
            Self::UnknownStrategy { .. } => (StatusCode::NOT_FOUND, "unknown-strategy"),
            Self::ServiceMissing(_) => (StatusCode::NOT_IMPLEMENTED, "service-missing"),
            Self::BadValue { .. } => (StatusCode::UNPROCESSABLE_ENTITY, "bad-value"),
            Self::KeyReused => (StatusCode::UNPROCESSABLE_ENTITY, "key-reused"),
            Self::BadRequest(status, _) => (*status, "bad-request"),
            Self::NotInLab(_) => (StatusCode::FORBIDDEN, "not-in-lab-mode"),
            Self::Unauthorized => (StatusCode::UNAUTHORIZED, "unauthorized"),
            Self::TooManySales => (StatusCode::CONFLICT, "too-many-sales"),
            Self::TooManyFaults => (StatusCode::CONFLICT, "too-many-faults"),
            Self::NotTraced => (StatusCode::NOT_FOUND, "not-traced"),
            Self::NotFound => (StatusCode::NOT_FOUND, "not-found"),
            Self::MethodNotAllowed => (StatusCode::METHOD_NOT_ALLOWED, "method-not-allowed"),
            Self::NotReady => (StatusCode::SERVICE_UNAVAILABLE, "not-ready"),
            Self::Trace(_) => (StatusCode::INTERNAL_SERVER_ERROR, "trace-failed"),
            Self::Store(_) => (StatusCode::INTERNAL_SERVER_ERROR, "store-failed"),
        }
    }

    fn header(&self) -> Option<(HeaderName, HeaderValue)> {
        match self {
            Self::Busy => Some((RETRY_AFTER, HeaderValue::from_static(RETRY_AFTER_S))),
            Self::Unauthorized => Some((WWW_AUTHENTICATE, HeaderValue::from_static("Bearer"))),
            _ => None,
        }
    }
}

impl From<JsonRejection> for Problem {
    fn from(rejection: JsonRejection) -> Self {
        Self::BadRequest(rejection.status(), rejection.body_text())
    }
}

impl From<PathRejection> for Problem {
    fn from(rejection: PathRejection) -> Self {
        Self::BadRequest(rejection.status(), rejection.body_text())
    }
}

impl IntoResponse for Problem {
    fn into_response(self) -> Response {
        let (status, kind) = self.status_and_type();
        match &self {
            Self::Store(error) => tracing::error!(%error, "a store failed"),
            Self::Trace(error) => tracing::error!(%error, "a trace failed"),
            _ => {}
        }
        let body = serde_json::json!({
            "type": format!("urn:oversell:{kind}"),
            "title": kind.replace('-', " "),
            "status": status.as_u16(),
            "detail": self.to_string(),
        });
        let mut response = (status, Json(body)).into_response();
        let headers = response.headers_mut();
        headers.insert(CONTENT_TYPE, HeaderValue::from_static("application/problem+json"));
        headers.extend(self.header());
        response
    }
}
