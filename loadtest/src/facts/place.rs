//! Where a strategy keeps what it sells.

use std::fmt;

use serde::de::Error as _;
use serde::{Deserialize, Deserializer};

use super::STORES;
use crate::text::{MAX_NAME, one_line};

/// Where stock and orders are, by the names of the stores. Mostly one store holds both.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Place {
    /// Where the counter is.
    pub stock: &'static str,
    /// Where the orders are.
    pub orders: &'static str,
}

impl Place {
    /// Whether stock and orders are apart, so that no store can change both in one step.
    pub fn is_two_stores(self) -> bool {
        self.stock != self.orders
    }
}

impl TryFrom<String> for Place {
    type Error = String;

    /// Reads `redis`, or `redis+sql`: stock first.
    fn try_from(text: String) -> Result<Self, String> {
        let (stock, orders) = text.split_once('+').unwrap_or((&text, &text));
        let known = |name: &str| STORES.iter().copied().find(|store| *store == name);
        match (known(stock), known(orders)) {
            (Some(stock), Some(orders)) => Ok(Self { stock, orders }),
            _ => Err(format!(
                "\"{}\" is no store: there are {}, and two of them with a + between",
                one_line(&text, MAX_NAME),
                STORES.join(", ")
            )),
        }
    }
}

impl<'de> Deserialize<'de> for Place {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        Self::try_from(String::deserialize(deserializer)?).map_err(D::Error::custom)
    }
}

impl fmt::Display for Place {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.stock)?;
        if self.orders != self.stock {
            write!(f, "+{}", self.orders)?;
        }
        Ok(())
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used, reason = "a test that fails may panic")]
mod tests {
    use super::*;

    #[test]
    fn a_place_is_one_store_or_two_and_nothing_else() {
        for good in ["redis", "sql", "redis+sql", "sql+redis"] {
            assert_eq!(Place::try_from(good.to_owned()).unwrap().to_string(), good);
        }
        for bad in ["", "etcd", "redis+", "+sql", "redis+sql+sql", "Redis"] {
            let why = Place::try_from(bad.to_owned()).unwrap_err();
            assert!(why.contains("is no store: there are redis, sql"), "{why}");
        }
    }
}
