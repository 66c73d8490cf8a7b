//! The database's named lock, GET_LOCK in MariaDB and an advisory lock in PostgreSQL, on a dedicated connection, which keeps the
//! lock for as long as it is open.
//!
//! ```text
//! A: get-lock(item) -> 1
//!                     B: get-lock(item), BLOCKS in the server
//! A: (killed)         -- the server closes its connection
//!                     B: unblocked; read 1
//! ```
//!
//! It has no lease that could end too early, and none to wait for after a crash. It does not survive a server that
//! closes the connection of a live holder: the lock then has a second owner while the first still writes. Each waiter
//! occupies a connection, so the lock has its own pool: the holder needs one of the other pool to write.
//! Cost: two round trips.

use async_trait::async_trait;

use super::{Guard, GuardEntry, Held, Released, opened};
use crate::domain::{Error, Name};
use crate::mechanism::{AS_FAMILY, Claims, Family, Mechanism};
use crate::probe::Probe;
use crate::stores::Sql;
use crate::stores::sql::{CONNECT, Connection, GET_LOCK, RELEASE_LOCK};
use crate::timeouts::Timeouts;

pub(super) const ENTRY: GuardEntry = GuardEntry {
    mechanism: Mechanism {
        name: "named-lock",
        family: Family::SessionLock,
        lesson: 7,
        summary: "a named lock of the database, held by a connection: GET_LOCK in MariaDB, an advisory lock in PostgreSQL",
        claims: Claims {
            survives: &["paused-holder", "blocked-runtime"],
            broken_by: &["sql-restart", "sql-gone"],
            sometimes_broken_by: &["store-silent"],
            ..AS_FAMILY
        },
        weak_at: "write",
        needs: &["sql"],
        source: include_str!("named_lock.rs"),
    },
    steps: &[CONNECT, GET_LOCK, RELEASE_LOCK],
    reentrant: false,
    open: |world, store| {
        Box::pin(async move {
            opened(NamedLock {
                sql: world.locks_in(store)?.with_connections_of_its_own()?,
                timeouts: world.timeouts,
            })
        })
    },
};

struct NamedLock {
    sql: Sql,
    timeouts: Timeouts,
}

#[async_trait]
impl Guard for NamedLock {
    async fn lock(&self, item: &Name, probe: &Probe) -> Result<Option<Box<dyn Held>>, Error> {
        let mut held = HeldLock {
            sql: Some(self.sql.connected(probe).await?),
            item: item.clone(),
        };
        let Some(sql) = &mut held.sql else { return Ok(None) };
        if Sql::get_lock(item, self.timeouts.wait, probe, sql).await? {
            return Ok(Some(Box::new(held)));
        }
        held.sql = None;
        Ok(None)
    }
}

/// A lock that ends with its connection.
struct HeldLock {
    /// `None` when the lock was not granted, or is released.
    sql: Option<Connection>,
    item: Name,
}

#[async_trait]
impl Held for HeldLock {
    async fn release(mut self: Box<Self>, probe: &Probe) -> Result<Released, Error> {
        let Some(sql) = &mut self.sql else {
            return Ok(Released::TooLate);
        };
        let was_held = Sql::release_lock(&self.item, probe, sql).await?;
        self.sql = None;
        Ok(if was_held { Released::InTime } else { Released::TooLate })
    }
}

impl Drop for HeldLock {
    /// Closes the connection: in the pool it would keep the lock for its next user.
    fn drop(&mut self) {
        if let Some(sql) = self.sql.take() {
            sql.close();
        }
    }
}
