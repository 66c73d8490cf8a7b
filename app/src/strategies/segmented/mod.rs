//! One hot item in eight segments: a purchase takes from one segment, and the missing units from the others.
//!
//! ```text
//! A: sell -> sold             -- segment 3 has 1
//!                     B: sell -> sold         -- segment 3 has 0: one unit is stolen from segment 4
//! C: sell -> sold out         -- all eight are empty
//! ```
//!
//! Purchases of one item rarely meet in one segment. Without stealing, a buyer would be refused while other segments
//! have units. In one Redis the segments are fields of one hash, and a script takes and steals in one atomic step: exact,
//! and no faster than `lua`, as Redis has one thread. Segments pay off where each has its own row, lock or node: in a
//! cluster each lies in a slot of its own, and stealing takes several steps, see `over_slots`. Cost: one round trip.

mod in_one_slot;
mod over_slots;

use super::{NativeEntry, opened};
use crate::mechanism::{AS_FAMILY, Family, Mechanism};
use crate::probe::{Data, Role, Step};
use crate::stores::CLUSTER;

const SELL: Step = Step::command("sell", &["EVALSHA"])
    .writes(Data::STOCK.and(Data::ORDERS))
    .plays(Role::Write);

pub(super) const ENTRY: NativeEntry = NativeEntry {
    mechanism: Mechanism {
        name: "segmented",
        family: Family::Atomic,
        lesson: 9,
        summary: "stock in eight segments; take from one at random, steal from the others",
        claims: AS_FAMILY,
        weak_at: "write",
        needs: &[],
        source: include_str!("mod.rs"),
    },
    stores: &["redis", CLUSTER],
    steps: &[SELL, over_slots::LOOK, over_slots::GIVE, over_slots::RECEIVE],
    open: |world, store| {
        Box::pin(async move {
            let redis = world.redis(store)?;
            match store {
                CLUSTER => opened(over_slots::Segmented::new(redis)),
                _ => opened(in_one_slot::Segmented::new(redis)),
            }
        })
    },
};
