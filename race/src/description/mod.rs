//! The shop file: a TOML file that describes a shop as it is.

mod answers;
mod change;
mod checks;
mod fault;
mod json;
mod read;
mod step;
mod template;

use std::collections::{BTreeMap, BTreeSet};
use std::ops::Range;

use anyhow::{Result, anyhow};
use serde::Deserialize;
use url::Url;

pub use self::answers::{Answer, Answers};
pub use self::change::Change;
pub(crate) use self::fault::shown;
pub use self::fault::{Disturbance, Fault, FaultKind};
pub use self::read::{Item, OrderReading, StockReading};
pub use self::step::{RequestLine, Source, Step};
pub use self::template::{Template, Values};

/// An example, with every part explained.
pub const EXAMPLE: &str = include_str!("example.toml");

/// The JSON Schema of a shop file.
pub const SCHEMA: &str = include_str!("schema.json");

/// A shop, as its file describes it.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Description {
    /// The base URL.
    pub url: Template,
    /// The store of stock and orders: a URL of MariaDB, MySQL, PostgreSQL, SQLite or Redis.
    pub store: Option<Template>,
    /// The sale.
    pub sale: Sale,
    /// Values that buyers have by turns, by their names: the first buyer of a round has the first ones.
    #[serde(default)]
    pub turns: BTreeMap<String, Vec<Template>>,
    /// The requests that make a buyer ready, one after the other. Cookies are kept.
    #[serde(default)]
    pub buyer: Vec<Step>,
    /// The request that is raced.
    pub race: Step,
    /// What its answers mean.
    pub answers: Answers,
    /// How the stock of the only item is read. After [`Description::parse`] it stands in `item`.
    stock: Option<StockReading>,
    /// How its orders are read.
    orders: Option<OrderReading>,
    /// The items of which each purchase takes one unit.
    #[serde(default)]
    pub item: Vec<Item>,
    /// The fault that is done to the shop while it is raced.
    pub fault: Option<Fault>,
}

/// A sale, and how it is opened.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Sale {
    /// The units that are for sale.
    pub stock: i64,
    /// What opens a sale, one after the other.
    #[serde(default)]
    pub open: Vec<Change>,
    /// What closes it.
    #[serde(default)]
    pub close: Vec<Change>,
}

impl Description {
    /// Parses a shop file.
    ///
    /// # Errors
    /// What is wrong, with its line.
    pub fn parse(text: &str) -> Result<Self> {
        let at = |span: Range<usize>, why: &str| {
            if span == (0..0) {
                return anyhow!("{why}");
            }
            anyhow!("line {}: {why}", line(text, span.start))
        };
        let parsed: Result<Self, _> = toml::from_str(text);
        let mut description = parsed.map_err(|error| match error.span() {
            Some(span) => at(span, error.message()),
            None => anyhow!("{}", error.message()),
        })?;
        let (stock, orders) = (description.stock.take(), description.orders.take());
        match (stock, orders, description.item.is_empty()) {
            (Some(stock), orders, true) => description.item.push(Item {
                name: String::new(),
                stock,
                orders,
            }),
            (None, None, false) => {}
            _ => {
                return Err(anyhow!(
                    "either [stock], or [[item]] with `stock` and `orders` is expected"
                ));
            }
        }
        match description.wrong() {
            Some((span, why)) => Err(at(span, &why)),
            None => Ok(description),
        }
    }

    /// Returns the base URL.
    ///
    /// # Errors
    /// None in a file that was parsed.
    pub fn base(&self) -> Result<Url> {
        Ok(Url::parse(&self.url.filled(&Values::new()))?)
    }

    /// Returns the URLs of other hosts or ports to which requests go.
    pub fn other_urls(&self) -> Vec<Url> {
        let of_orders = self
            .item
            .iter()
            .filter_map(|item| item.orders.as_ref()?.request.as_ref());
        let of_stock = self.item.iter().filter_map(|item| item.stock.request.as_ref());
        let of_fault = self.fault.iter().filter_map(|fault| fault.ready.as_ref());
        let of_steps = self.steps().into_iter().map(|step| &step.request);
        let lines = of_steps.chain(of_stock).chain(of_orders).chain(of_fault);
        lines
            .filter_map(|line| Url::parse(&line.path.filled(&Values::new())).ok())
            .collect()
    }

    /// Returns the values from the environment, which are never shown.
    pub fn secrets(&self) -> BTreeSet<String> {
        let templates = self.templates();
        templates
            .iter()
            .flat_map(|template| template.secrets())
            .map(str::to_owned)
            .collect()
    }

    /// Returns what stands in the orders for a buyer, where that is named.
    pub(crate) fn order_buyers(&self) -> impl Iterator<Item = &Template> {
        self.item.iter().filter_map(|item| item.orders.as_ref()?.buyer.as_ref())
    }

    /// Returns all requests.
    fn steps(&self) -> Vec<&Step> {
        let changes = self.sale.open.iter().chain(&self.sale.close);
        let of_changes = changes.filter_map(|change| match change {
            Change::Request(step) => Some(&**step),
            Change::Statement(_) => None,
        });
        of_changes.chain(&self.buyer).chain([&self.race]).collect()
    }

    fn templates(&self) -> Vec<&Template> {
        let changes = self.sale.open.iter().chain(&self.sale.close);
        let of_changes = changes.flat_map(|change| match change {
            Change::Statement(statement) => statement.store.iter().chain([&statement.write]).collect(),
            Change::Request(_) => Vec::new(),
        });
        let steps = self.steps();
        let of_steps = steps.iter().flat_map(|step| step.templates());
        let all = [&self.url]
            .into_iter()
            .chain(&self.store)
            .chain(of_changes)
            .chain(self.readings());
        let of_buyer = self.order_buyers();
        let of_fault = self.fault.iter().flat_map(Fault::templates);
        all.chain(of_buyer)
            .chain(of_steps)
            .chain(of_fault)
            .chain(self.turns.values().flatten())
            .collect()
    }

    /// Returns the texts by which stock and orders are read.
    fn readings(&self) -> Vec<&Template> {
        self.item.iter().flat_map(Item::readings).collect()
    }
}

impl Step {
    fn templates(&self) -> Vec<&Template> {
        let form = self.form.iter().flat_map(|form| form.values().map(|field| &field.0));
        let json = self.json.iter().flat_map(|json| json.texts());
        let all = [&self.request.path]
            .into_iter()
            .chain(self.headers.values())
            .chain(form);
        all.chain(json).chain(&self.body).collect()
    }
}

/// Returns the number of the line with this byte, from 1.
fn line(text: &str, byte: usize) -> usize {
    text.get(..byte).map_or(1, |before| before.matches('\n').count() + 1)
}
