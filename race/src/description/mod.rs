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
pub use self::read::{OrderReading, StockReading};
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
    /// How the stock is read.
    pub stock: StockReading,
    /// How the orders are read; what buyers were told stands for them where nothing is named.
    pub orders: Option<OrderReading>,
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
        let description = parsed.map_err(|error| match error.span() {
            Some(span) => at(span, error.message()),
            None => anyhow!("{}", error.message()),
        })?;
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
        let readings = [
            self.stock.request.as_ref(),
            self.orders.as_ref().and_then(|orders| orders.request.as_ref()),
            self.fault.as_ref().and_then(|fault| fault.ready.as_ref()),
        ];
        let of_steps = self.steps().into_iter().map(|step| &step.request);
        let lines = of_steps.chain(readings.into_iter().flatten());
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
        let of_buyer = self.orders.iter().flat_map(|orders| &orders.buyer);
        let of_fault = self.fault.iter().flat_map(Fault::templates);
        all.chain(of_buyer)
            .chain(of_steps)
            .chain(of_fault)
            .chain(self.turns.values().flatten())
            .collect()
    }

    /// Returns the texts by which stock and orders are read.
    fn readings(&self) -> Vec<&Template> {
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
