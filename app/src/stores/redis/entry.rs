//! An order in the ledger of Redis, as JSON.

use std::borrow::Cow;
use std::fmt::Display;

use serde::Deserialize;
use serde::de::IgnoredAny;

use super::Redis;
use crate::domain::{Error, Name, Order, Purchase};
use crate::stores::Store;

/// An order as in the hash `orders:{item}`. docs/contract.md describes it for readers.
#[derive(Deserialize)]
struct Entry<'a> {
    quantity: u32,
    buyer: Cow<'a, str>,
    idempotency_key: Option<Cow<'a, str>>,
    #[serde(rename = "instance")]
    _instance: IgnoredAny,
}

impl Redis {
    /// Returns the ledger entry of a purchase at this instance. Names need no escaping in JSON.
    pub fn entry(&self, purchase: &Purchase) -> String {
        let quantity = purchase.quantity.to_string();
        let (quote, key) = purchase.key.as_ref().map_or(("", "null"), |key| ("\"", key.as_str()));
        [
            r#"{"quantity":"#,
            &quantity,
            r#","buyer":""#,
            purchase.buyer.as_str(),
            r#"","idempotency_key":"#,
            quote,
            key,
            quote,
            r#","instance":""#,
            self.instance.as_str(),
            r#""}"#,
        ]
        .concat()
    }

    /// Parses the purchase of an entry.
    ///
    /// # Errors
    /// [`Error::Corrupt`] when this program cannot have written the entry.
    pub fn purchase(item: &Name, order: &str, entry: &str) -> Result<Purchase, Error> {
        let entry: Entry = serde_json::from_str(entry).map_err(|error| corrupt(&error))?;
        let name = |text: &str| Name::parse(text).map_err(|error| corrupt(&error));
        Ok(Purchase {
            item: item.clone(),
            quantity: entry.quantity,
            buyer: name(&entry.buyer)?,
            key: entry.idempotency_key.as_deref().map(name).transpose()?,
            order: order.parse().map_err(|error: uuid::Error| corrupt(&error))?,
        })
    }

    /// Parses the order of a ledger entry.
    ///
    /// # Errors
    /// [`Error::Corrupt`] when this program cannot have written the entry.
    pub fn order(entry: &str) -> Result<Order, Error> {
        let entry: Entry = serde_json::from_str(entry).map_err(|error| corrupt(&error))?;
        Ok(Order {
            quantity: entry.quantity,
            buyer: entry.buyer.into_owned(),
        })
    }
}

fn corrupt(what: &dyn Display) -> Error {
    Error::Corrupt {
        store: Redis::NAME,
        what: what.to_string(),
    }
}
