//! The effect of a step: the data of a sale that it reads, writes and locks in a store.

/// A set of the data of a sale.
#[derive(Clone, Copy, PartialEq, Eq)]
pub struct Data(u8);

impl Data {
    /// No data.
    pub const NONE: Self = Self(0);
    /// The units that are left, with the fencing token and the version beside them.
    pub const STOCK: Self = Self(1);
    /// The orders, and the buyers and keys that have one.
    pub const ORDERS: Self = Self(2);
    /// The lock, with its queue, its tokens and its clock.
    pub const LOCK: Self = Self(4);
    /// What a transaction or a message over several stores keeps of itself.
    pub const LOG: Self = Self(8);
    /// All of it.
    pub const ALL: Self = Self(15);

    const NAMES: [(Self, &str); 4] = [
        (Self::STOCK, "stock"),
        (Self::ORDERS, "orders"),
        (Self::LOCK, "lock"),
        (Self::LOG, "log"),
    ];

    /// Returns what is in either.
    #[must_use]
    pub const fn and(self, other: Self) -> Self {
        Self(self.0 | other.0)
    }

    /// Returns whether both have something in common.
    pub const fn meets(self, other: Self) -> bool {
        self.0 & other.0 != 0
    }

    /// Returns whether all of `other` is in it.
    pub const fn contains(self, other: Self) -> bool {
        self.0 & other.0 == other.0
    }
}

impl std::fmt::Debug for Data {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let named = Self::NAMES.iter().filter(|(data, _)| self.contains(*data));
        f.debug_set().entries(named.map(|(_, name)| name)).finish()
    }
}

/// The data that a step reads and writes. Where a store keeps rows locked until a transaction ends, they count as written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Effect {
    /// The data that it reads.
    pub reads: Data,
    /// The data that it writes or locks.
    pub writes: Data,
}

impl Effect {
    /// The step reads and writes nothing that another actor can see.
    pub const NONE: Self = Self {
        reads: Data::NONE,
        writes: Data::NONE,
    };
    /// The step may read and write everything.
    pub const ANY: Self = Self {
        reads: Data::ALL,
        writes: Data::ALL,
    };

    /// Returns whether two steps of different actors, in either order, end alike and leave the same behind.
    pub const fn commutes_with(self, other: Self) -> bool {
        let disturbs = self.writes.meets(other.reads.and(other.writes));
        !disturbs && !other.writes.meets(self.reads)
    }

    /// Returns whether a step with this effect may do what `seen` says.
    pub const fn covers(self, seen: Self) -> bool {
        self.writes.contains(seen.writes) && self.reads.and(self.writes).contains(seen.reads)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn effect(reads: Data, writes: Data) -> Effect {
        Effect { reads, writes }
    }

    #[test]
    fn two_steps_commute_unless_one_writes_what_the_other_reads_or_writes() {
        let (reads, writes) = (effect(Data::STOCK, Data::NONE), effect(Data::NONE, Data::STOCK));
        let elsewhere = effect(Data::LOCK, Data::LOCK);
        for (a, b, commute) in [
            (reads, reads, true),
            (reads, writes, false),
            (writes, writes, false),
            (writes, elsewhere, true),
            (Effect::NONE, Effect::ANY, true),
            (Effect::ANY, reads, false),
        ] {
            assert_eq!(a.commutes_with(b), commute, "{a:?} {b:?}");
            assert_eq!(b.commutes_with(a), commute, "{b:?} {a:?}");
        }
    }

    #[test]
    fn an_effect_covers_what_it_names() {
        let writes = effect(Data::ORDERS, Data::STOCK);
        assert!(writes.covers(effect(Data::STOCK.and(Data::ORDERS), Data::STOCK)));
        assert!(!writes.covers(effect(Data::NONE, Data::ORDERS)));
        assert!(!writes.covers(effect(Data::LOCK, Data::NONE)));
        assert!(Effect::ANY.covers(writes));
    }
}
