//! The statements of XA, as commands of a connection. They take no parameters: a name is part of their text.

use sqlx::AssertSqlSafe;

use super::{Protocol, Xid};
use crate::domain::Error;
use crate::probe::Command;
use crate::stores::sql::connections::Connection;
use crate::stores::sql::error::is_unknown_xid;
use crate::stores::sql::link::Link;

/// The way in which all branches of a transaction end.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Decision {
    /// Their changes become visible.
    Commit,
    /// Their changes are taken back.
    Rollback,
}

impl Connection {
    /// Begins a branch. Until it ends, the connection must not be lent to another purchase.
    pub(super) fn xa_start(&mut self, xid: &Xid) -> Command<impl Future<Output = Result<(), Error>>> {
        let start = format!("xa start {xid}");
        Command::new(async {
            self.0.in_transaction = true;
            self.0.raw(AssertSqlSafe(start)).await
        })
    }

    /// Creates statements that leave the branch open.
    pub(super) fn xa(&mut self, statements: String) -> Command<impl Future<Output = Result<(), Error>>> {
        Command::new(self.0.raw(AssertSqlSafe(statements)))
    }

    /// Creates statements that end the branch.
    pub(super) fn xa_over(&mut self, statements: String) -> Command<impl Future<Output = Result<(), Error>>> {
        Command::new(async {
            self.0.raw(AssertSqlSafe(statements)).await?;
            self.0.in_transaction = false;
            Ok(())
        })
    }

    pub(super) fn recover(&mut self, protocol: Protocol) -> Command<impl Future<Output = Result<Vec<Xid>, Error>>> {
        Command::new(self.0.recover(protocol))
    }

    pub(super) fn end_prepared(
        &mut self,
        xid: &Xid,
        decision: Decision,
    ) -> Command<impl Future<Output = Result<bool, Error>>> {
        let how = match decision {
            Decision::Commit => "commit",
            Decision::Rollback => "rollback",
        };
        let end = format!("xa {how} {xid}");
        Command::new(async {
            match self.0.raw(AssertSqlSafe(end)).await {
                Err(error) if is_unknown_xid(&error) => Ok(false),
                ended => ended.map(|()| true),
            }
        })
    }
}

impl Link {
    pub(super) async fn recover(&mut self, protocol: Protocol) -> Result<Vec<Xid>, Error> {
        let rows = self.raw_rows("xa recover").await?;
        Ok(rows.iter().filter_map(|row| Xid::read(row, protocol)).collect())
    }
}
