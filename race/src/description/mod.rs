//! The shop file: a TOML file that describes a shop as it is.

mod answers;
mod change;
mod json;
mod read;
mod step;
mod template;

use std::collections::BTreeSet;
use std::ops::Range;

use anyhow::{Result, anyhow};
use serde::Deserialize;
use url::Url;

pub use self::answers::{Answer, Answers};
pub use self::change::Change;
pub use self::read::{OrderReading, StockReading};
pub use self::step::{RequestLine, Source, Step};
pub use self::template::{Template, Values};

/// The values that each buyer has: the name, which no other buyer of any round has; the number in the round, from 1; the item,
/// which is new in each round; and the units that are for sale.
const GIVEN: [&str; 4] = ["buyer", "number", "item", "stock"];

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
        let at = |span: Range<usize>, why: &str| anyhow!("line {}: {why}", line(text, span.start));
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

    /// Returns the values from the environment, which are never shown.
    pub fn secrets(&self) -> BTreeSet<String> {
        let templates = self.templates();
        templates
            .iter()
            .flat_map(|template| template.secrets())
            .map(str::to_owned)
            .collect()
    }

    /// Returns what is wrong, and where.
    fn wrong(&self) -> Option<(Range<usize>, String)> {
        let url = self.url.filled(&Values::new());
        let here = self.url.span.clone();
        match Url::parse(&url) {
            Err(error) => return Some((here, format!("this is no URL: {error}"))),
            Ok(url) if !["http", "https"].contains(&url.scheme()) => {
                return Some((here, "the URL of a shop begins with http:// or https://".to_owned()));
            }
            Ok(_) => {}
        }
        if !(1..=1_000_000).contains(&self.sale.stock) {
            return Some((0..0, "sale.stock is a number from 1 to 1000000".to_owned()));
        }
        self.wrong_reading()
            .or_else(|| self.wrong_bodies())
            .or_else(|| self.unknown_value())
    }

    fn wrong_reading(&self) -> Option<(Range<usize>, String)> {
        let stock = [self.stock.read.is_some(), self.stock.request.is_some()];
        if stock.iter().filter(|is_there| **is_there).count() != 1 {
            return Some((0..0, "[stock] has either `read` or `request`".to_owned()));
        }
        if let Some(orders) = &self.orders {
            let ways = [orders.read.is_some(), orders.count.is_some(), orders.request.is_some()];
            if ways.iter().filter(|is_there| **is_there).count() != 1 {
                return Some((0..0, "[orders] has either `read`, `count` or `request`".to_owned()));
            }
        }
        let of_orders = self.orders.iter().flat_map(|orders| {
            let read = orders.read.iter().chain(&orders.count);
            read.map(|statement| (statement, &orders.store))
        });
        let of_stock = self.stock.read.iter().map(|statement| (statement, &self.stock.store));
        let changes = self.sale.open.iter().chain(&self.sale.close);
        let of_changes = changes.filter_map(|change| match change {
            Change::Statement(statement) => Some((&statement.write, &statement.store)),
            Change::Request(_) => None,
        });
        let mut statements = of_stock.chain(of_orders).chain(of_changes);
        statements.find_map(|(statement, store)| {
            let Some(store) = store.as_ref().or(self.store.as_ref()) else {
                return Some((
                    statement.span.clone(),
                    "no `store` is named for this statement".to_owned(),
                ));
            };
            let url = store.filled(&Values::new());
            let is_known = crate::ledger::is_known(&url);
            (!is_known).then(|| (store.span.clone(), crate::ledger::KNOWN.to_owned()))
        })
    }

    fn wrong_bodies(&self) -> Option<(Range<usize>, String)> {
        self.steps().into_iter().find_map(|step| {
            let bodies = [step.json.is_some(), step.form.is_some(), step.body.is_some()];
            let is_wrong = bodies.iter().filter(|is_there| **is_there).count() > 1;
            let why = "a request has one of `json`, `form` and `body`";
            is_wrong.then(|| (step.request.path.span.clone(), why.to_owned()))
        })
    }

    /// Returns the first use of a value that is not there yet.
    fn unknown_value(&self) -> Option<(Range<usize>, String)> {
        let mut known: BTreeSet<&str> = GIVEN.into();
        let unknown = |templates: Vec<&Template>, known: &BTreeSet<&str>, place: &Range<usize>| {
            templates.into_iter().find_map(|template| {
                let name = template.names().find(|name| !known.contains(name))?;
                let span = if template.span.is_empty() {
                    place.clone()
                } else {
                    template.span.clone()
                };
                let all: Vec<_> = known.iter().copied().collect();
                Some((
                    span,
                    format!("{{{name}}} is not known here; known are {}", all.join(", ")),
                ))
            })
        };
        let changes = self.sale.open.iter().chain(&self.sale.close);
        for change in changes {
            let (templates, place) = match change {
                Change::Statement(statement) => (vec![&statement.write], statement.write.span.clone()),
                Change::Request(step) => (step.templates(), step.request.path.span.clone()),
            };
            let found = unknown(templates, &known, &place);
            if found.is_some() {
                return found;
            }
        }
        for step in self.buyer.iter().chain([&self.race]) {
            let found = unknown(step.templates(), &known, &step.request.path.span);
            if found.is_some() {
                return found;
            }
            known.extend(step.take.keys().map(String::as_str));
        }
        let orders = self.orders.as_ref().and_then(|orders| orders.buyer.as_ref());
        unknown(orders.into_iter().collect(), &known, &(0..0))
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
                buyer,
                request,
                headers,
                ..
            } = orders;
            let texts = read.iter().chain(count).chain(store).chain(buyer);
            texts
                .chain(request.iter().map(|line| &line.path))
                .chain(headers.values())
        });
        let steps = self.steps();
        let of_steps = steps.iter().flat_map(|step| step.templates());
        let all = [&self.url]
            .into_iter()
            .chain(&self.store)
            .chain(of_changes)
            .chain(stock);
        all.chain(orders).chain(of_steps).collect()
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
