//! The stores of a strategy.

use std::fmt;

use serde::de::Error as _;
use serde::{Deserialize, Deserializer};

use super::STORES;
use crate::text::{MAX_NAME, one_line};

/// The stores of stock and orders, by name. Mostly one store holds both.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct StorePair {
    /// The store of the counter.
    pub stock: &'static str,
    /// The store of the orders.
    pub orders: &'static str,
}

impl StorePair {
    /// Returns whether stock and orders are in different stores, so that no store can change both in one step.
    pub fn is_two_stores(self) -> bool {
        self.stock != self.orders
    }
}

/// The ending of a store's name that means a second server of the same kind.
const SECOND: &str = "-2";

fn known(name: &str) -> Option<&'static str> {
    STORES.iter().copied().find(|store| *store == name)
}

impl TryFrom<String> for StorePair {
    type Error = String;

    /// Reads `redis` or `redis+sql`, stock first. `sql+sql` means two servers of one kind: `sql` and `sql-2`.
    fn try_from(text: String) -> Result<Self, String> {
        let first = |name: &str| known(name).filter(|store| !store.ends_with(SECOND));
        let pair = match text.split_once('+') {
            None => first(&text).map(|store| (store, store)),
            Some((stock, orders)) if stock == orders => first(stock).zip(known(&format!("{orders}{SECOND}"))),
            Some((stock, orders)) => first(stock).zip(first(orders)),
        };
        match pair {
            Some((stock, orders)) => Ok(Self { stock, orders }),
            None => {
                let names: Vec<&str> = STORES.iter().copied().filter(|store| first(store).is_some()).collect();
                Err(format!(
                    "\"{}\" is not a store: use one of {}, two of them with a + between, or sql+sql",
                    one_line(&text, MAX_NAME),
                    names.join(", ")
                ))
            }
        }
    }
}

impl<'de> Deserialize<'de> for StorePair {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        Self::try_from(String::deserialize(deserializer)?).map_err(D::Error::custom)
    }
}

impl fmt::Display for StorePair {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.stock)?;
        if self.orders != self.stock {
            write!(f, "+{}", self.orders.trim_end_matches(SECOND))?;
        }
        Ok(())
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used, reason = "a test that fails may panic")]
mod tests {
    use super::*;

    #[test]
    fn a_pair_is_one_store_or_two_and_nothing_else() {
        for good in [
            "redis",
            "sql",
            "pg",
            "cluster",
            "redis+sql",
            "sql+redis",
            "sql+sql",
            "redis+pg",
        ] {
            assert_eq!(StorePair::try_from(good.to_owned()).unwrap().to_string(), good);
        }
        let two = StorePair::try_from("sql+sql".to_owned()).unwrap();
        assert_eq!((two.stock, two.orders), ("sql", "sql-2"));
        for bad in [
            "",
            "etcd",
            "redis+",
            "+sql",
            "+",
            "redis+sql+sql",
            "redis+redis",
            "pg+pg",
            "sql-2",
            "sql+sql-2",
            "Redis",
        ] {
            let why = StorePair::try_from(bad.to_owned()).unwrap_err();
            assert!(
                why.contains("is not a store: use one of redis, sql, pg, cluster,"),
                "{why}"
            );
        }
    }
}
