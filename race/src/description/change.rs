//! What opens and closes a sale.

use std::collections::BTreeMap;

use serde::Deserialize;

use super::json::Json;
use super::step::{Field, RequestLine, Statuses, Step};
use super::template::Template;

/// A change of the shop before or after a round: a statement that writes, or a request.
#[derive(Debug, Deserialize)]
#[serde(try_from = "Fields")]
pub enum Change {
    /// A statement.
    Statement(Statement),
    /// A request.
    Request(Box<Step>),
}

/// A statement that writes.
#[derive(Debug)]
pub struct Statement {
    /// The statement, or the command of Redis.
    pub write: Template,
    /// The store, where it is not that of the whole file.
    pub store: Option<Template>,
}

/// The fields of both.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Fields {
    write: Option<Template>,
    store: Option<Template>,
    request: Option<RequestLine>,
    #[serde(default)]
    headers: BTreeMap<String, Template>,
    json: Option<Json>,
    form: Option<BTreeMap<String, Field>>,
    body: Option<Template>,
    expect: Option<Statuses>,
}

impl TryFrom<Fields> for Change {
    type Error = &'static str;

    fn try_from(fields: Fields) -> Result<Self, Self::Error> {
        match (fields.write, fields.request) {
            (Some(write), None) => Ok(Self::Statement(Statement {
                write,
                store: fields.store,
            })),
            (None, Some(request)) => Ok(Self::Request(Box::new(Step {
                request,
                headers: fields.headers,
                json: fields.json,
                form: fields.form,
                body: fields.body,
                expect: fields.expect,
                sold_out: None,
                take: BTreeMap::new(),
            }))),
            _ => Err("either `write` or `request` is expected"),
        }
    }
}
