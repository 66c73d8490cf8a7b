//! The answer of a script that sells.

use redis::{FromRedisValue, ParsingError, Value};

use super::Redis;
use crate::domain::{Error, Outcome};
use crate::probe::{StepResult, StepValue};

/// The result of one purchase. A script answers the number of units that are left, or a list whose first word is the
/// reason for no sale.
#[derive(Debug, PartialEq, Eq)]
pub enum Answer {
    /// The units were sold and the order is recorded.
    Sold {
        /// The units that were left after it.
        left: i64,
    },
    /// Fewer units are left than were asked for.
    SoldOut,
    /// The ledger already holds an order of this id.
    Repeated {
        /// The ledger's entry.
        entry: String,
    },
    /// No sale of this item is open.
    UnknownItem,
}

impl Answer {
    /// Converts the answer to an outcome.
    ///
    /// # Errors
    /// [`Error::Corrupt`] when this program cannot have written the ledger's entry.
    pub fn outcome(self) -> Result<Outcome, Error> {
        Ok(match self {
            Self::Sold { left } => Outcome::Sold { remaining: left },
            Self::SoldOut => Outcome::SoldOut,
            Self::Repeated { entry } => Outcome::Repeated(Redis::order(&entry)?),
            Self::UnknownItem => Outcome::UnknownItem,
        })
    }
}

impl From<&Answer> for StepResult {
    fn from(answer: &Answer) -> Self {
        match answer {
            Answer::Sold { left } => StepValue::Left(*left).after("sold"),
            Answer::SoldOut => "sold out".into(),
            Answer::Repeated { .. } => "repeated".into(),
            Answer::UnknownItem => "unknown".into(),
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
    fn only_the_answers_of_a_script_are_accepted() {
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
