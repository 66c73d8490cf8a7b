//! The error of a store that has damaged its own data.

use std::error::Error;
use std::fmt;

/// A table that its server finds damaged. That is no fault of a shop.
#[derive(Debug)]
pub struct Damaged {
    pub(super) table: String,
    /// The words of the server.
    pub(super) message: String,
}

impl fmt::Display for Damaged {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} is damaged: {}", self.table, self.message)
    }
}

impl Error for Damaged {}

#[cfg(test)]
mod tests {
    use anyhow::Error;

    use super::*;

    #[test]
    fn damage_is_recognised_whatever_was_said_about_it() {
        let (table, message) = ("orders".to_owned(), "corrupted".to_owned());
        let damaged = Error::from(Damaged { table, message });
        let damaged = damaged.context("the store sql").context("round 7");
        assert!(damaged.is::<Damaged>());
        assert!(!Error::msg("no answer").context("round 7").is::<Damaged>());
    }
}
