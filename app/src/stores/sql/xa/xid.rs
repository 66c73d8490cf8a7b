//! The names of branches. Each name contains its owner, because `xa recover` lists the branches of the whole server.

use std::fmt;

use sqlx::Row;
use sqlx::mysql::MySqlRow;
use uuid::Uuid;

use crate::domain::{Error, Name};
use crate::stores::sql::{Sql, query};

/// The owner of branches: one mechanism in one database. XA calls it the format.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Protocol(u32);

impl Protocol {
    /// Returns the protocol of a mechanism in the database of the stock: another shop may use another database of the
    /// same server.
    ///
    /// # Errors
    /// When MariaDB does not answer.
    pub async fn of(mechanism: &'static str, stock: &Sql) -> Result<Self, Error> {
        // A format is signed, and must not be negative.
        let format = "select cast(crc32(concat_ws('/', @@hostname, @@datadir, database(), ?)) >> 1 as signed)";
        let format = stock.count(query(format).bind(mechanism)).await?;
        Ok(Self(format as u32))
    }
}

/// The name of the branches of a transaction: one branch at each server, both with the same name.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Xid {
    /// Its owner.
    pub protocol: Protocol,
    /// The transaction, new for each delivery of a purchase.
    pub transaction: Uuid,
    /// The item of the purchase.
    pub item: Name,
}

impl Xid {
    /// Creates the name of a new transaction.
    pub fn new(protocol: Protocol, item: &Name) -> Self {
        Self {
            protocol,
            transaction: Uuid::new_v4(),
            item: item.clone(),
        }
    }

    /// Parses a row of `xa recover`; `None` for a branch of another owner.
    pub(super) fn read(row: &MySqlRow, protocol: Protocol) -> Option<Self> {
        let format: i64 = row.try_get(0).ok()?;
        let length: i64 = row.try_get(1).ok()?;
        // Some versions return text, and some bytes.
        let data: Vec<u8> = row.try_get_unchecked(3).ok()?;
        let data = String::from_utf8(data).ok()?;
        let (transaction, item) = data.split_at_checked(usize::try_from(length).ok()?)?;
        let xid = Self {
            protocol,
            transaction: transaction.parse().ok()?,
            item: Name::parse(item).ok()?,
        };
        (format == i64::from(protocol.0)).then_some(xid)
    }
}

/// Formats the name for a statement. An item contains no character that could end the text.
impl fmt::Display for Xid {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "'{}','{}',{}", self.transaction, self.item, self.protocol.0)
    }
}
