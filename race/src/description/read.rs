//! How the stock and the orders of a shop are read.

use std::collections::BTreeMap;

use serde::Deserialize;

use super::json::Pointer;
use super::step::RequestLine;
use super::template::Template;

/// An item of which each purchase takes one unit.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Item {
    /// Its name, in the table; empty where the shop file has one item.
    pub name: String,
    /// How its stock is read.
    pub stock: StockReading,
    /// How its orders are read; what buyers were told stands for them where nothing is named.
    pub orders: Option<OrderReading>,
}

impl Item {
    /// Returns the name of a part of it, for an error.
    pub fn part(&self, part: &str) -> String {
        if self.name.is_empty() {
            format!("[{part}]")
        } else {
            format!("`{part}` of {} in [[item]]", self.name)
        }
    }

    /// Returns the texts by which its stock and its orders are read.
    pub(super) fn readings(&self) -> Vec<&Template> {
        let StockReading {
            read,
            store,
            request,
            headers,
            ..
        } = &self.stock;
        let stock = read
            .iter()
            .chain(store)
            .chain(request.iter().map(|line| &line.path))
            .chain(headers.values());
        let orders = self.orders.iter().flat_map(|orders| {
            let OrderReading {
                read,
                count,
                store,
                request,
                headers,
                ..
            } = orders;
            let texts = read.iter().chain(count).chain(store);
            texts
                .chain(request.iter().map(|line| &line.path))
                .chain(headers.values())
        });
        stock.chain(orders).collect()
    }

    /// Returns the statements that read it, each with the store that it names.
    pub(super) fn statements(&self) -> Vec<(&Template, &Option<Template>)> {
        let of_stock = self.stock.read.iter().map(|statement| (statement, &self.stock.store));
        let of_orders = self.orders.iter().flat_map(|orders| {
            let read = orders.read.iter().chain(&orders.count);
            read.map(|statement| (statement, &orders.store))
        });
        of_stock.chain(of_orders).collect()
    }

    /// Returns what is wrong with it.
    pub(super) fn wrong(&self) -> Option<String> {
        let is_one = |ways: &[bool]| ways.iter().filter(|is_there| **is_there).count() == 1;
        if !is_one(&[self.stock.read.is_some(), self.stock.request.is_some()]) {
            return Some(format!("{} has either `read` or `request`", self.part("stock")));
        }
        let orders = self.orders.as_ref()?;
        let ways = [orders.read.is_some(), orders.count.is_some(), orders.request.is_some()];
        let why = || format!("{} has either `read`, `count` or `request`", self.part("orders"));
        (!is_one(&ways)).then(why)
    }
}

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
