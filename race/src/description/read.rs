//! How the stock and the orders of a shop are read.

use std::collections::BTreeMap;

use serde::Deserialize;

use super::json::Pointer;
use super::step::RequestLine;
use super::template::Template;

/// How the stock is read: by a statement, or by a request.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct StockReading {
    /// The statement, or the command of Redis, whose first value is the units that are left.
    pub read: Option<Template>,
    /// The store, where it is not that of the whole file.
    pub store: Option<Template>,
    /// The request.
    pub request: Option<RequestLine>,
    /// The headers of the request.
    #[serde(default)]
    pub headers: BTreeMap<String, Template>,
    /// The units in the answer.
    #[serde(default)]
    pub json: Pointer,
}

/// How the orders are read.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct OrderReading {
    /// The statement, or the command of Redis, with a row for each order: first its buyer, and then its units, if it may have
    /// more than one.
    pub read: Option<Template>,
    /// The statement, or the command of Redis, that counts the ordered units, where nothing ties an order to its buyer.
    pub count: Option<Template>,
    /// The store, where it is not that of the whole file.
    pub store: Option<Template>,
    /// What stands in an order for its buyer: `{buyer}` where nothing is named.
    pub buyer: Option<Template>,
    /// The request.
    pub request: Option<RequestLine>,
    /// The headers of the request.
    #[serde(default)]
    pub headers: BTreeMap<String, Template>,
    /// The list of orders in the answer.
    #[serde(default)]
    pub each: Pointer,
    /// The buyer in an order of that list, or in the first value of a row that is JSON.
    pub json: Option<Pointer>,
    /// The units in the same order; 1 where nothing is named.
    pub units: Option<Pointer>,
}
