//! What a script answers that sells.

use std::fmt;

use redis::{FromRedisValue, ParsingError, Value};

use super::Redis;
use crate::domain::{Error, Outcome};

/// What came of one purchase: a number, of those that are left behind it, or a list that begins with a word for why not.
#[derive(Debug, PartialEq, Eq)]
pub enum Answer {
    /// Sold and recorded.
    Sold {
        /// Units left behind it.
        left: i64,
    },
    /// Fewer units are left than were asked for.
    SoldOut,
    /// The ledger holds an order of this id.
    Repeated {
        /// As the ledger has it.
        entry: String,
    },
    /// No sale of such an item is open.
    UnknownItem,
}

impl Answer {
    /// The outcome that it is.
    ///
    /// # Errors
    /// [`Error::Corrupt`] when the ledger holds an entry that is none of ours.
    pub fn outcome(self) -> Result<Outcome, Error> {
        Ok(match self {
            Self::Sold { left } => Outcome::Sold { remaining: left },
            Self::SoldOut => Outcome::SoldOut,
            Self::Repeated { entry } => Outcome::Repeated(Redis::order(&entry)?),
            Self::UnknownItem => Outcome::UnknownItem,
        })
    }
}

impl fmt::Display for Answer {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Sold { left } => write!(f, "sold, left {left}"),
            Self::SoldOut => f.write_str("sold out"),
            Self::Repeated { .. } => f.write_str("repeated"),
            Self::UnknownItem => f.write_str("unknown"),
        }
    }
}

impl FromRedisValue for Answer {
    fn from_redis_value(value: Value) -> Result<Self, ParsingError> {
        if let Value::Int(left) = value {
            return Ok(Self::Sold { left });
        }
        let mut words = Vec::<String>::from_redis_value(value)?.into_iter();
        match (words.next().as_deref(), words.next()) {
            (Some("sold out"), None) => Ok(Self::SoldOut),
            (Some("repeated"), Some(entry)) => Ok(Self::Repeated { entry }),
            (Some("unknown"), None) => Ok(Self::UnknownItem),
            _ => Err("neither a sale nor a refusal".into()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(words: &[&str]) -> Result<Answer, ParsingError> {
        let words = words.iter().map(|word| Value::BulkString(word.as_bytes().to_vec()));
        Answer::from_redis_value(Value::Array(words.collect()))
    }

    #[test]
    fn only_what_a_script_may_say_is_an_answer() {
        assert_eq!(
            Answer::from_redis_value(Value::Int(0)).unwrap(),
            Answer::Sold { left: 0 }
        );
        assert_eq!(read(&["sold out"]).unwrap(), Answer::SoldOut);
        let entry = "{}".to_owned();
        assert_eq!(read(&["repeated", "{}"]).unwrap(), Answer::Repeated { entry });
        assert_eq!(read(&["unknown"]).unwrap(), Answer::UnknownItem);
        for none in [&[][..], &["sold"], &["repeated"], &["sold out", "1"]] {
            assert!(read(none).is_err(), "{none:?}");
        }
    }
}
