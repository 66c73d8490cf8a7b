//! The vocabulary: what a buyer asks for, and what can come of it.

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
/// So narrow that it can stand in a Redis key, a log line or a label without quoting.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Name(Arc<str>);

/// Why a text is no [`Name`].
#[derive(Debug, thiserror::Error)]
#[error("must be 1 to 64 characters of A-Z a-z 0-9 . _ -")]
pub struct BadName;

impl Name {
    /// Checks `text` and takes it as a name.
    ///
    /// # Errors
    /// [`BadName`] when it is empty, too long, or holds any other character.
    pub fn parse(text: &str) -> Result<Self, BadName> {
        let fits = (1..=64).contains(&text.len());
        let plain = |c: u8| c.is_ascii_alphanumeric() || matches!(c, b'.' | b'_' | b'-');
        if fits && text.bytes().all(plain) {
            Ok(Self(text.into()))
        } else {
            Err(BadName)
        }
    }

    /// The name itself.
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl fmt::Display for Name {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

/// What a buyer asks for: some units of one item.
#[derive(Clone, Debug)]
pub struct Purchase {
    /// What is wanted.
    pub item: Name,
    /// How many units: 1 to [`MAX_QUANTITY`].
    pub quantity: u32,
    /// Who wants it.
    pub buyer: Name,
    /// The buyer's `Idempotency-Key`, if one was sent.
    pub key: Option<Name>,
    /// The id the order will have, fixed before the first attempt: see [`Purchase::new`].
    pub order: Uuid,
}

impl Purchase {
    /// A purchase whose order id follows from its idempotency key, where it has one: the same key can then only ever
    /// name the same order, and each ledger refuses the second one by its own primary key. Without one it is random, which a
    /// ledger can tell by the version of the id: 4, and not 5.
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

/// A number that rises with every holder of a lock. A store that has seen a higher one refuses: whoever brings it has
/// outlived its lease.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Fence(pub u64);

/// An order that the ledger already holds for a purchase's idempotency key.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Order {
    /// Units it was for.
    pub quantity: u32,
    /// Who bought.
    pub buyer: String,
}

/// What came of a purchase. Each of these is a result; what went wrong is an [`Error`].
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Outcome {
    /// Sold and recorded; `remaining` units were left behind it.
    Sold {
        /// Units left as this purchase saw them.
        remaining: i64,
    },
    /// This idempotency key bought before; here is that order.
    Repeated(Order),
    /// Fewer units are left than were asked for.
    SoldOut,
    /// The lock or the row did not come free within the longest wait. Nothing was written.
    Busy,
    /// No sale of such an item is open.
    UnknownItem,
}

/// What went wrong between the shop and its stores or lock services.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// Something the strategy needs is not there.
    #[error(transparent)]
    Missing(#[from] Missing),
    /// No connection was to be had, so nothing was sent.
    #[error("no connection to {service}: {why}")]
    NoConnection {
        /// Which service.
        service: &'static str,
        /// What was in the way.
        why: String,
    },
    /// It does not let this program in, so nothing was sent: the key is not the one that it was set up with.
    #[error("{service} refuses the key: {why}")]
    Refused {
        /// Which service.
        service: &'static str,
        /// What it said.
        why: String,
    },
    /// The store gave the attempt up, and nothing was written.
    #[error("{service} gave up: {why}")]
    GivenUp {
        /// Which service.
        service: &'static str,
        /// What was in the way.
        why: String,
    },
    /// The ledger refused an order because it holds it already.
    #[error("the ledger holds this order already")]
    Duplicate,
    /// It refused, timed out or could not be reached: whether the sale took place is unknown.
    #[error("{service}: {source}")]
    Failed {
        /// Which service.
        service: &'static str,
        /// What it said.
        source: Box<dyn std::error::Error + Send + Sync>,
    },
    /// A store holds something that this program never writes.
    #[error("the {store} store holds an entry that cannot be read: {what}")]
    Corrupt {
        /// Which store.
        store: &'static str,
        /// Which entry.
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

    /// Whether the attempt is known to have changed nothing.
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
    fn a_name_holds_nothing_that_could_break_out_of_a_key_or_a_log_line() {
        for bad in ["", "a b", "a\r\nb", "{x}", "a:b", "ü", "x".repeat(65).as_str()] {
            assert!(Name::parse(bad).is_err(), "{bad:?}");
        }
        assert_eq!(Name::parse("sku-1.A_b").unwrap().as_str(), "sku-1.A_b");
    }

    #[test]
    fn one_key_names_one_order_and_no_key_names_a_new_one_each_time() {
        let name = |text: &str| Name::parse(text).unwrap();
        let buy = |key: Option<&str>| Purchase::new(name("sku"), 1, name("b"), key.map(name)).order;
        assert_eq!(buy(Some("k")), buy(Some("k")));
        assert_ne!(buy(Some("k")), buy(Some("l")));
        assert_ne!(buy(None), buy(None));
    }
}
