//! The place of a purchase in its schedule.

use app::probe::Step;
use tokio::sync::oneshot;

/// The place of one purchase.
pub enum Place {
    /// Between two steps, or not begun yet.
    Between,
    /// Before a step, until the sender is used.
    Before(Step, oneshot::Sender<()>),
    /// At a step that it was allowed to take. It is the `usize`th of all that were taken.
    At(Step, usize),
    /// The purchase has its outcome.
    Ended,
}
