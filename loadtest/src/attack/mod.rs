//! The attack of one round: all buyers released at once, an exact number of purchases, every answer kept.
//!
//! Some purchases are sent more than once, as buyers do who click twice. The shop cannot know which ones: it is drawn
//! anew for each round.

mod crowd;
mod running;
mod twice;

pub use crowd::{Attacked, Crowd};

use crate::instances::DeathWatch;
use crate::sale::Sale;

/// What the buyers of one round are after.
pub struct Attack {
    /// What is sold, and where.
    pub sale: Sale,
    /// Whether each buyer waits for the answer of the one before: a control, in which nothing may meet.
    pub one_at_a_time: bool,
    /// What is broken on the way, if anything.
    pub fault: Option<Fault>,
}

/// A fault that one purchase of the first wave carries. Every buyer's first purchase is the first wave; the second begins
/// when the fault has struck and its damage is healed, so that neither misses the other.
pub struct Fault {
    /// The purchase's place in the order of sending.
    pub place: usize,
    /// The value of `X-Fault`.
    pub text: &'static str,
    /// Who sees an instance die.
    pub deaths: DeathWatch,
}
