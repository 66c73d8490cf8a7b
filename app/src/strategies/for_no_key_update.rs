//! The weaker row lock of PostgreSQL: it keeps out other writers, but not an insert that only refers to the row.
//!
//! ```text
//! A: begin; lock-row num       -- 1; A has locked the row, but not its key
//!                     B: begin; lock-row num, BLOCKS
//! A: write num = 0; record; commit
//!                     B: unblocked             -- 0, sold out
//! ```
//!
//! `for update` also blocks each transaction that inserts a row with a foreign key to this one, since it might delete the
//! row or change its key. A sale does neither, so this lock is enough, and an order table with a foreign key to the stock
//! does not wait for it. In READ COMMITTED B reads the row again when it is unblocked. Source: the chapter "Explicit
//! Locking" of PostgreSQL's manual. Cost: five round trips, the row locked for four.

use super::for_update::{ForUpdate, LOCK_ROW, steps};
use super::{NativeEntry, opened};
use crate::mechanism::{AS_FAMILY, Family, Mechanism};

pub(super) const ENTRY: NativeEntry = NativeEntry {
    mechanism: Mechanism {
        name: "for-no-key-update",
        family: Family::RowLock,
        lesson: 8,
        summary: "select ... for no key update of PostgreSQL, then update, in one transaction with the order",
        claims: AS_FAMILY,
        weak_at: "write",
        needs: &[],
        source: include_str!("for_no_key_update.rs"),
    },
    stores: &["pg"],
    steps: &steps(LOCK_ROW),
    open: |world, store| {
        Box::pin(async move {
            opened(ForUpdate {
                sql: world.sql(store)?,
                timeouts: world.timeouts,
                lock_row: LOCK_ROW,
                select: "select num from store where id = ? for no key update",
            })
        })
    },
};
