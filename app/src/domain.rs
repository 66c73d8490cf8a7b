//! The vocabulary: a purchase, its outcomes and its errors.

use std::fmt;
use std::sync::Arc;

use uuid::Uuid;

use crate::services::Missing;

/// The largest quantity one purchase may ask for, in units.
pub const MAX_QUANTITY: u32 = 1_000;

/// The largest stock a sale may be opened with, in units.
pub const MAX_STOCK: i64 = 1_000_000_000;

/// The name of an item, a buyer, an instance or an idempotency key: 1 to 64 characters of `A-Z a-z 0-9 . _ -`.
///
/// These characters need no quoting in a Redis key, a log line or a label.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Name(Arc<str>);

/// The error for a text that is not a [`Name`].
#[derive(Debug, thiserror::Error)]
#[error("must be 1 to 64 characters of A-Z a-z 0-9 . _ -")]
pub struct BadName;

impl Name {
    /// Checks `text` and returns it as a name.
    ///
    /// # Errors
    /// [`BadName`] when the text is empty, too long, or contains any other character.
    pub fn parse(text: &str) -> Result<Self, BadName> {
        let fits = (1..=64).contains(&text.len());
        let plain = |c: u8| c.is_ascii_alphanumeric() || matches!(c, b'.' | b'_' | b'-');
        if fits && text.bytes().all(plain) {
            Ok(Self(text.into()))
        } else {
            Err(BadName)
        }
    }

    /// Returns the text of the name.
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl fmt::Display for Name {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

/// The wish of a buyer: some units of one item.
#[derive(Clone, Debug)]
pub struct Purchase {
    /// The item.
    pub item: Name,
    /// The units: 1 to [`MAX_QUANTITY`].
    pub quantity: u32,
    /// The buyer.
    pub buyer: Name,
    /// The `Idempotency-Key` of the request, if it has one.
    pub key: Option<Name>,
    /// The id of the future order, fixed before the first attempt: see [`Purchase::new`].
    pub order: Uuid,
}

impl Purchase {
    /// Creates a purchase. With an idempotency key, the order id is derived from the key (UUID version 5): the same key
    /// always names the same order, so the primary key of each ledger refuses a second one. Without a key the id is
    /// random (version 4). A ledger can tell the two kinds by the version.
    pub fn new(item: Name, quantity: u32, buyer: Name, key: Option<Name>) -> Self {
        let order = match &key {
            Some(key) => Uuid::new_v5(&Uuid::NAMESPACE_OID, format!("{item}/{key}").as_bytes()),
            None => Uuid::new_v4(),
        };
        Self {
            item,
            quantity,
            buyer,
            key,
            order,
        }
    }
}

/// A fencing token: a number that rises with every holder of a lock. A store that has seen a higher one refuses the
/// write: its sender has outlived its lease.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Fence(pub u64);

/// An order that the ledger already holds for a purchase's idempotency key.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Order {
    /// The units of the order.
    pub quantity: u32,
    /// The buyer.
    pub buyer: String,
}

/// The result of a purchase. Failures are an [`Error`].
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Outcome {
    /// The units were sold and the order is recorded.
    Sold {
        /// The units that were left after this purchase, as it saw them.
        remaining: i64,
    },
    /// A purchase with this idempotency key was sold before. Holds that order.
    Repeated(Order),
    /// Fewer units are left than were asked for.
    SoldOut,
    /// The purchase got no lock, row or connection within the longest wait. Nothing was written.
    Busy,
    /// No sale of this item is open.
    UnknownItem,
}

/// A failure between the shop and its stores or lock services.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// A service that the strategy needs has no URL.
    #[error(transparent)]
    Missing(#[from] Missing),
    /// There was no connection, so nothing was sent.
    #[error("no connection to {service}: {why}")]
    NoConnection {
        /// The service.
        service: &'static str,
        /// The reason.
        why: String,
    },
    /// The service does not accept the credentials, so nothing was sent.
    #[error("{service} refuses the key: {why}")]
    Refused {
        /// The service.
        service: &'static str,
        /// The error of the service or its client.
        why: String,
    },
    /// The store gave up the attempt, and nothing was written.
    #[error("{service} gave up: {why}")]
    GivenUp {
        /// The service.
        service: &'static str,
        /// The reason.
        why: String,
    },
    /// The ledger refused an order that it already holds.
    #[error("the ledger already holds this order")]
    Duplicate,
    /// The service refused, timed out or could not be reached. It is unknown whether the sale took place.
    #[error("{service}: {source}")]
    Failed {
        /// The service.
        service: &'static str,
        /// The error of the service or its client.
        source: Box<dyn std::error::Error + Send + Sync>,
    },
    /// A store holds an entry that this program never writes.
    #[error("the {store} store holds an entry that cannot be read: {what}")]
    Corrupt {
        /// The store.
        store: &'static str,
        /// The entry, or the reason why it cannot be read.
        what: String,
    },
}

impl Error {
    pub(crate) fn no_connection(service: &'static str, why: &dyn fmt::Display) -> Self {
        let why = why.to_string();
        Self::NoConnection { service, why }
    }

    pub(crate) fn refused(service: &'static str, why: &dyn fmt::Display) -> Self {
        let why = why.to_string();
        Self::Refused { service, why }
    }

    pub(crate) fn given_up(service: &'static str, why: &dyn fmt::Display) -> Self {
        let why = why.to_string();
        Self::GivenUp { service, why }
    }

    pub(crate) fn failed(service: &'static str, source: impl std::error::Error + Send + Sync + 'static) -> Self {
        let source = Box::new(source);
        Self::Failed { service, source }
    }

    /// Returns whether the attempt is known to have changed nothing.
    pub fn changed_nothing(&self) -> bool {
        matches!(
            self,
            Self::NoConnection { .. } | Self::Refused { .. } | Self::GivenUp { .. }
        )
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_has_no_character_that_could_end_a_key_or_a_log_line() {
        for bad in ["", "a b", "a\r\nb", "{x}", "a:b", "ü", "x".repeat(65).as_str()] {
            assert!(Name::parse(bad).is_err(), "{bad:?}");
        }
        assert_eq!(Name::parse("sku-1.A_b").unwrap().as_str(), "sku-1.A_b");
    }

    #[test]
    fn one_key_names_one_order_and_each_purchase_without_a_key_gets_a_new_one() {
        let name = |text: &str| Name::parse(text).unwrap();
        let buy = |key: Option<&str>| Purchase::new(name("sku"), 1, name("b"), key.map(name)).order;
        assert_eq!(buy(Some("k")), buy(Some("k")));
        assert_ne!(buy(Some("k")), buy(Some("l")));
        assert_ne!(buy(None), buy(None));
    }
}
