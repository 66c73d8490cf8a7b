//! Reads values out of a request, and refuses bad ones.

use axum::extract::Path;
use axum::extract::rejection::PathRejection;
use axum::http::HeaderMap;
use axum::http::header::AUTHORIZATION;
use subtle::ConstantTimeEq;

use super::problem::Problem;
use crate::domain::Name;
use crate::instance::Shop;

/// Accepts a request with the admin token. The comparison takes the same time wherever the two tokens differ.
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

/// Returns the only value of a header. Two values are refused, because one of them would be ignored.
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

/// Returns the item that a path names.
pub(super) fn item(path: Result<Path<String>, PathRejection>) -> Result<Name, Problem> {
    let Path(item) = path?;
    name("item", &item)
}

/// Parses a value that must be a name.
pub(super) fn name(field: &'static str, text: &str) -> Result<Name, Problem> {
    Name::parse(text).map_err(|error| bad_value(field, &error))
}

/// Returns the problem of a bad value.
pub(super) fn bad_value(field: &'static str, why: &dyn std::error::Error) -> Problem {
    Problem::BadValue {
        field,
        why: why.to_string(),
    }
}
