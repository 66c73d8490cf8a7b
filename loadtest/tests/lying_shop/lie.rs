//! What the shop does wrong.

/// A way to lie, or to fail, that a witness has to tell apart from all others.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Lie {
    /// An honest shop: one conditional write, one order, one answer, and the same again to whoever asks again.
    None,
    /// Three buyers more are sold units that are gone; the counter stays at zero, as after a lost update.
    OversellsAtZero,
    /// Three buyers more are sold units that are gone; the counter goes below zero.
    OversellsBelowZero,
    /// The first sale takes its units, and its order is not written.
    LosesAnOrder,
    /// With the first sale comes an order that nobody asked for.
    RecordsAGhost,
    /// The first sale is told, and nothing is written at all.
    TellsWithoutWriting,
    /// The first sale is told and its order written, and the counter is not touched.
    RecordsWithoutTaking,
    /// A repeated idempotency key is one more purchase.
    ForgetsKeys,
    /// The last two units are never sold.
    RefusesWhileStockIsLeft,
    /// Half of the stock is sold, then everybody is told to wait.
    StuckAfterHalf,
    /// Everybody is told to wait.
    AlwaysBusy,
    /// Everybody is told that the server broke.
    AlwaysFails,
    /// Takes every purchase and cuts the connection.
    Silent,
    /// Nobody's purchase is one.
    RejectsEveryone,
    /// The first sale is taken and recorded, and the server breaks before it says so.
    ForgetsAfterCommit,
    /// Sells as it should, whatever it was told to break.
    IgnoresFaults,
    /// Sells as it should, all from one instance.
    OneInstance,
}

impl Lie {
    /// Units that are held back from buyers, of so many that the sale opened with.
    pub fn held_back(self, stock: i64) -> i64 {
        match self {
            Self::RefusesWhileStockIsLeft => 2,
            Self::StuckAfterHalf => stock / 2,
            _ => 0,
        }
    }
}
