//! The code of `lost-update` on connections with `innodb_snapshot_isolation`: the second write is refused.
//!
//! ```text
//! A: begin; select num           -- 1
//!                     B: begin; select num                     -- 1
//! A: update ... set num = 0 where id = ?; insert order; commit
//!                     B: update ... set num = 0 where id = ?   -- error 1020: the row has changed since it was read
//! ```
//!
//! The first write wins, and the other buyer is told busy. The setting is on by default since MariaDB 11.6. It exists
//! since 10.11.8, 11.4.2 and their like, and a shop that relies on it is exact only there. Cost: five round trips.

use std::sync::Arc;

use super::lost_update::{LostUpdate, STEPS};
use super::{NativeEntry, opened};
use crate::mechanism::{AS_FAMILY, Claims, Family, Mechanism};
use crate::stores::Sql;

pub(super) const ENTRY: NativeEntry = NativeEntry {
    mechanism: Mechanism {
        name: "lost-update-snapshot",
        family: Family::Optimistic,
        lesson: 8,
        summary: "lost-update, where the database refuses to overwrite a row that changed since the read",
        claims: Claims {
            gives_up: true,
            ..AS_FAMILY
        },
        weak_at: "write",
        needs: &[],
        source: include_str!("lost_update_snapshot.rs"),
    },
    stores: &["sql"],
    steps: STEPS,
    open: |world, _| {
        Box::pin(async {
            let sql = Arc::new(world.store::<Sql>()?.with_snapshot_isolation()?);
            opened(LostUpdate { sql })
        })
    },
};
