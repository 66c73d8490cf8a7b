//! The segments of an item in a cluster. Each lies in a slot of its own, and has a counter and a ledger as an item has. The first
//! one is the item itself: there every sale begins, and another one gets units only when a purchase brings them there.

use futures_util::future::try_join_all;
use redis::pipe;

use super::{Redis, key};
use crate::domain::{Error, Name};

/// How many segments an item has in a cluster.
pub const SEGMENTS: u32 = 8;

/// The keys of a segment, all in one slot.
pub struct SegmentKeys {
    /// The counter.
    pub stock: String,
    /// The ledger.
    pub orders: String,
    /// A hash: `to-3` is the number of units that segment 3 was given so far, and `from-3`, less than 0, of those that came from
    /// it. In the sum of all segments only the units on their way are left of these, which belong to the stock.
    pub moved: String,
    /// How many segments there are. The first segment has it before another one has units.
    pub slots: String,
}

impl SegmentKeys {
    /// Returns the keys of the segment with that number, from 0.
    pub fn of(item: &Name, segment: u32) -> Self {
        let name = match segment {
            0 => item.to_string(),
            // No item has a slash in its name.
            number => format!("{item}/{number}"),
        };
        Self {
            stock: key("stock", &name),
            orders: key("orders", &name),
            moved: key("segments", &name),
            slots: key("slots", &name),
        }
    }
}

impl Redis {
    /// Deletes all that a cluster has of an item besides its own counter and ledger.
    pub(super) async fn forget_segments(&self, item: &Name) -> Result<(), Error> {
        if !self.has_segments(item).await? {
            return Ok(());
        }
        let forget = async |segment| {
            let keys = SegmentKeys::of(item, segment);
            let mut all = vec![keys.moved, keys.slots];
            if segment > 0 {
                all.extend([keys.stock, keys.orders]);
            }
            self.forget(&all).await
        };
        try_join_all((1..SEGMENTS).map(forget)).await?;
        // The last one: as long as it is there, the others are looked for.
        forget(0).await
    }

    async fn has_segments(&self, item: &Name) -> Result<bool, Error> {
        if !self.connections.is_cluster() {
            return Ok(false);
        }
        let (there,): (bool,) = self.operate(pipe().exists(SegmentKeys::of(item, 0).slots)).await?;
        Ok(there)
    }

    /// Returns the units and the ledger entries of all segments of an item but the first.
    pub(super) async fn look_at_segments(&self, item: &Name) -> Result<(i64, Vec<String>), Error> {
        let mut all = (0, Vec::new());
        if !self.has_segments(item).await? {
            return Ok(all);
        }
        for segment in 1..SEGMENTS {
            let keys = SegmentKeys::of(item, segment);
            let mut look = pipe();
            look.atomic().get(keys.stock).hvals(keys.moved).hvals(keys.orders);
            let (units, moved, entries): (Option<i64>, Vec<i64>, Vec<String>) = self.operate(&look).await?;
            all.0 += units.unwrap_or(0) + moved.iter().sum::<i64>();
            all.1.extend(entries);
        }
        Ok(all)
    }
}
