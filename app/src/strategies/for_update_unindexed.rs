//! `for-update`, by a column that has no index: the database looks at every row for it, and locks each one it looks at.
//!
//! ```text
//! A: begin; select num ... where sku = 'a' for update     -- the rows of a, b and c are A's, and the gaps between
//!                     B: begin; select num ... where sku = 'b' for update, BLOCKS
//!                     C: open a sale of d, BLOCKS
//! A: update, insert order, commit
//! ```
//!
//! Exact, and one lock for all items: with many of them it sells no faster than with one (`--items`), and a buyer waits for
//! whoever buys something else. The more rows there are, the longer each statement takes, too. Cost: five round trips, all
//! rows locked for four.

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
    store: "sql",
    steps: &steps(LOCK_ALL_ROWS),
    open: |world| {
        Box::pin(async {
            opened(ForUpdate {
                sql: world.store()?,
                timeouts: world.timeouts,
                lock_row: LOCK_ALL_ROWS,
                select: "select num from store where sku = ? for update",
            })
        })
    },
};
