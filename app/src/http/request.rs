//! What handlers take out of a request, and how they refuse it.

use axum::extract::Path;
use axum::extract::rejection::PathRejection;
use axum::http::HeaderMap;
use axum::http::header::AUTHORIZATION;
use subtle::ConstantTimeEq;

use super::problem::Problem;
use crate::domain::Name;
use crate::instance::Shop;

/// Lets pass who brings the token. The comparison takes the same time wherever the two differ.
pub(super) fn authorize(shop: &Shop, headers: &HeaderMap) -> Result<(), Problem> {
    let value = header(headers, AUTHORIZATION.as_str()).map_err(|_| Problem::Unauthorized)?;
    let token = value
        .and_then(|value| value.strip_prefix("Bearer "))
        .unwrap_or_default();
    if token.as_bytes().ct_eq(shop.admin_token.as_bytes()).into() {
        Ok(())
    } else {
        Err(Problem::Unauthorized)
    }
}

/// The one value of a header. Two values are refused: one of the two would be passed over.
pub(super) fn header<'a>(headers: &'a HeaderMap, name: &'static str) -> Result<Option<&'a str>, Problem> {
    let mut values = headers.get_all(name).iter();
    let Some(value) = values.next() else { return Ok(None) };
    match (value.to_str(), values.next()) {
        (Ok(text), None) => Ok(Some(text)),
        _ => Err(Problem::BadValue {
            field: name,
            why: "must be one line of visible ASCII, given once".to_owned(),
        }),
    }
}

/// The item that a path names.
pub(super) fn item(path: Result<Path<String>, PathRejection>) -> Result<Name, Problem> {
    let Path(item) = path?;
    name("item", &item)
}

/// A value that is a name.
pub(super) fn name(field: &'static str, text: &str) -> Result<Name, Problem> {
    Name::parse(text).map_err(|error| bad_value(field, &error))
}

/// A value that cannot be.
pub(super) fn bad_value(field: &'static str, why: &dyn std::error::Error) -> Problem {
    Problem::BadValue {
        field,
        why: why.to_string(),
    }
}
