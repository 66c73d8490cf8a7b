//! AT with Seata's SELECT FOR UPDATE: a read trusts a row only while no transaction has its global lock.
//!
//! ```text
//! A: write, global-lock, commit    -- 0 left
//!                     B: before-image -> 0 left; check-lock -> held by A: rollback, tries again
//! A: record -> fails: restore-stock: nobody has the row locked; end
//!                     B: before-image -> 1 left; check-lock -> free
//! ```
//!
//! `at` reads what A may still roll back, and can wait for A while A waits for it. Here neither occurs: a purchase lets
//! the row go while another transaction has the global lock, and nobody can take that lock without the row. The lock is
//! only looked at by a read, and taken before the commit as in `at`. The wait has the same limit, 30 tries of 10 ms.
//! The price: a purchase waits for the other's second database as well. Source: Seata; what is ours is that of `at`.
//! Cost: fourteen round trips.

use super::at::{At, CHECK_LOCK, Reading, STEPS};
use super::{NativeEntry, opened};
use crate::mechanism::{AS_FAMILY, Family, Mechanism};
use crate::probe::Step;

const NAME: &str = "at-for-update";

pub(super) const ENTRY: NativeEntry = NativeEntry {
    mechanism: Mechanism {
        name: NAME,
        family: Family::DistributedTransaction,
        lesson: 11,
        summary: "Seata's AT, and a read that waits until no other transaction has the global lock",
        claims: AS_FAMILY,
        weak_at: "record",
        needs: &[],
        source: include_str!("at_for_update.rs"),
    },
    stores: &["sql+sql"],
    steps: &with_check(),
    open: |world, _| Box::pin(async { opened(At::open(NAME, Reading::GloballyCommitted, world).await?) }),
};

/// The steps of `at`, and the look at the global lock.
const fn with_check() -> [Step; STEPS.len() + 1] {
    let mut all = [CHECK_LOCK; STEPS.len() + 1];
    let mut at = 0;
    while at < STEPS.len() {
        all[at] = STEPS[at];
        at += 1;
    }
    all
}
