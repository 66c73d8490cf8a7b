//! The names of branches, which say to whom they belong: `xa recover` shows those of a whole server, whoever began them.

use std::fmt;

use sqlx::Row;
use sqlx::mysql::MySqlRow;
use uuid::Uuid;

use crate::domain::{Error, Name};
use crate::stores::sql::Sql;

/// Whose branches they are: those of one mechanism in one database. It is what XA calls the format.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Protocol(u32);

impl Protocol {
    /// That of a mechanism, in the database of the stock: another shop may use another database of the same server.
    ///
    /// # Errors
    /// When MariaDB does not answer.
    pub async fn of(mechanism: &'static str, stock: &Sql) -> Result<Self, Error> {
        // A format is signed, and must not be negative.
        let format = "select cast(crc32(concat_ws('/', @@hostname, @@datadir, database(), ?)) >> 1 as signed)";
        let format = stock.count(sqlx::query(format).bind(mechanism)).await?;
        Ok(Self(format as u32))
    }
}

/// The name of a transaction's branch. There is one at each server, and both are called the same.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Xid {
    /// Whose it is.
    pub protocol: Protocol,
    /// Which transaction: each delivery of a purchase is another one.
    pub transaction: Uuid,
    /// The item it is about.
    pub item: Name,
}

impl Xid {
    /// The name of a new transaction.
    pub fn new(protocol: Protocol, item: &Name) -> Self {
        Self {
            protocol,
            transaction: Uuid::new_v4(),
            item: item.clone(),
        }
    }

    /// Reads a row of `xa recover`; `None` where it is nobody's here.
    pub(super) fn read(row: &MySqlRow, protocol: Protocol) -> Option<Self> {
        let format: i64 = row.try_get(0).ok()?;
        let length: i64 = row.try_get(1).ok()?;
        // Some versions call it text, and some bytes.
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

/// As a statement names it. An item has no character that could end the text.
impl fmt::Display for Xid {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "'{}','{}',{}", self.transaction, self.item, self.protocol.0)
    }
}
