//! The code of `unlock-before-commit` on connections with `innodb_snapshot_isolation`: the early release does no harm.
//!
//! ```text
//! A: begin; get-lock; select num          -- 1
//! A: update ... set num = 0; release-lock
//!                     B: begin; get-lock; select num       -- 1: what A wrote is not committed
//! A: insert order; commit
//!                     B: update ... set num = 0 -- blocked until A's commit; error 1020: changed since it was read
//! ```
//!
//! The mistake is still there, and has a price: a buyer that gets the lock too early is told busy. Up to MariaDB 11.5
//! the setting is off by default, and the same code sells one unit twice. Cost: seven round trips.

use std::sync::Arc;

use super::unlock_before_commit::{STEPS, UnlockBeforeCommit};
use super::{NativeEntry, opened};
use crate::mechanism::{AS_FAMILY, Claims, Family, Mechanism};
use crate::stores::Sql;

pub(super) const ENTRY: NativeEntry = NativeEntry {
    mechanism: Mechanism {
        name: "unlock-before-commit-snapshot",
        family: Family::SessionLock,
        lesson: 8,
        summary: "unlock-before-commit, where the database refuses to overwrite a changed row",
        claims: Claims {
            survives: &["paused-holder", "blocked-runtime", "store-silent"],
            gives_up: true,
            ..AS_FAMILY
        },
        weak_at: "commit",
        needs: &[],
        source: include_str!("unlock_before_commit_snapshot.rs"),
    },
    stores: &["sql"],
    steps: STEPS,
    open: |world, _| {
        Box::pin(async {
            opened(UnlockBeforeCommit {
                sql: Arc::new(world.store::<Sql>()?.with_snapshot_isolation()?),
                timeouts: world.timeouts,
            })
        })
    },
};
