//! What a shop file says has to fit together.

use std::collections::BTreeSet;
use std::ops::Range;

use url::Url;

use super::template::{Template, Values};
use super::{Change, Description, Fault, Item};

/// The values that each buyer has: the name, which no other buyer of any round has; the number in the round, from 1; the item,
/// which is new in each round; and the units that are for sale.
const GIVEN: [&str; 4] = ["buyer", "number", "item", "stock"];

/// Those of them that belong to the sale.
const OF_SALE: [&str; 2] = ["item", "stock"];

/// The most values that buyers have by turns: as many as buyers may race.
const MOST_TURNS: usize = 500;

/// The most items of one purchase.
const MOST_ITEMS: usize = 20;

impl Description {
    /// Returns what is wrong, and where.
    pub(super) fn wrong(&self) -> Option<(Range<usize>, String)> {
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
        self.wrong_turns()
            .or_else(|| self.wrong_reading())
            .or_else(|| self.wrong_bodies())
            .or_else(|| self.unknown_value())
    }

    fn wrong_turns(&self) -> Option<(Range<usize>, String)> {
        self.turns.iter().find_map(|(name, values)| {
            let place = values.first().map_or(0..0, |value| value.span.clone());
            if GIVEN.contains(&name.as_str()) {
                return Some((place, format!("{{{name}}} is given already")));
            }
            let is_wrong = !(1..=MOST_TURNS).contains(&values.len());
            is_wrong.then(|| (place, format!("`{name}` in [turns] has from 1 to {MOST_TURNS} values")))
        })
    }

    fn wrong_reading(&self) -> Option<(Range<usize>, String)> {
        let is_named = |item: &Item| self.item.len() == 1 || !item.name.is_empty();
        let names: BTreeSet<_> = self.item.iter().map(|item| &item.name).collect();
        if self.item.len() > MOST_ITEMS || names.len() < self.item.len() || !self.item.iter().all(is_named) {
            let why = format!("[[item]] stands at most {MOST_ITEMS} times, each time with another name");
            return Some((0..0, why));
        }
        let mut buyers = self.order_buyers();
        if let Some(first) = buyers.next()
            && let Some(other) = buyers.find(|other| !other.says_the_same(first))
        {
            let why = "an order of each item has the same `buyer`".to_owned();
            return Some((other.span.clone(), why));
        }
        if let Some(why) = self.item.iter().find_map(Item::wrong) {
            return Some((0..0, why));
        }
        let changes = self.sale.open.iter().chain(&self.sale.close);
        let of_changes = changes.filter_map(|change| match change {
            Change::Statement(statement) => Some((&statement.write, &statement.store)),
            Change::Request(_) => None,
        });
        let mut statements = self.item.iter().flat_map(Item::statements).chain(of_changes);
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
        let of_sale: BTreeSet<&str> = OF_SALE.into();
        let mut known: BTreeSet<&str> = GIVEN.into();
        known.extend(self.turns.keys().map(String::as_str));
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
            let found = unknown(templates, &of_sale, &place);
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
        let of_fault = self.fault.iter().flat_map(Fault::templates);
        let of_turns = self.turns.values().flatten();
        let of_sale_only = self.readings().into_iter().chain(of_fault).chain(of_turns).collect();
        unknown(self.order_buyers().collect(), &known, &(0..0)).or_else(|| unknown(of_sale_only, &of_sale, &(0..0)))
    }
}
