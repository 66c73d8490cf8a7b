//! `for-update` by a column without an index: the database examines every row, and locks each one.
//!
//! ```text
//! A: begin; select num ... where sku = 'a' for update     -- A has locked the rows a, b, c and the gaps
//!                     B: begin; select num ... where sku = 'b' for update, BLOCKS
//! -- a sale of d is opened, and BLOCKS
//! A: update, insert order, commit
//! ```
//!
//! Exact, but one lock for all items: with many items it sells no faster than with one (`--items`), and a buyer waits
//! for buyers of other items. More rows also make each statement slower. Source: tutorial 000, which warns that the
//! query plan decides whether an index is used; here there is none. Cost: five round trips, all rows locked for four.

use super::for_update::{ForUpdate, LOCK_ROW, steps};
use super::{NativeEntry, opened};
use crate::mechanism::{AS_FAMILY, Family, Mechanism};
use crate::probe::Step;

const LOCK_ALL_ROWS: Step = LOCK_ROW.locking_all_items();

pub(super) const ENTRY: NativeEntry = NativeEntry {
    mechanism: Mechanism {
        name: "for-update-unindexed",
        family: Family::RowLock,
        lesson: 8,
        summary: "select ... for update by a column without an index, which locks every row",
        claims: AS_FAMILY,
        weak_at: "write",
        needs: &[],
        source: include_str!("for_update_unindexed.rs"),
    },
    stores: &["sql", "pg"],
    steps: &steps(LOCK_ALL_ROWS),
    open: |world, store| {
        Box::pin(async move {
            opened(ForUpdate {
                sql: world.sql(store)?,
                timeouts: world.timeouts,
                lock_row: LOCK_ALL_ROWS,
                select: "select num from store where sku = ? for update",
            })
        })
    },
};
