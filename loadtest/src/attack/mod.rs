//! The attack of one round: all buyers released at once, an exact number of purchases, every answer kept.
//!
//! Some purchases are sent more than once, as buyers do who click twice. The shop cannot know which ones: it is drawn
//! anew for each round.

mod control;
mod crowd;
mod delivery;
mod injection;
mod running;
mod send_order;
mod twice;

pub use control::AttackControl;
pub use crowd::{AttackResult, Crowd};
pub use delivery::Delivery;
pub use injection::Injection;
pub use running::most_purchases;
pub use send_order::{ResponsePair, SendOptions};

use crate::sale::sale_set::SaleSet;

/// What the buyers of one round are after.
pub struct Attack {
    /// What is sold, and where.
    pub sale: SaleSet,
    /// Where each instance is bought at, past the proxy; the proxy alone where no more is known.
    pub publics: Vec<String>,
    /// Whether each buyer waits for the answer of the one before: a control, in which nothing may meet.
    pub one_at_a_time: bool,
    /// What is done to the shop on the way, if anything.
    pub injection: Option<&'static Injection>,
}

impl Attack {
    /// Whether others can send what it sends: nobody waits for anybody, and nothing is done to the shop.
    pub fn can_be_shared(&self) -> bool {
        !self.one_at_a_time && self.injection.is_none()
    }

    /// The purchases that are sent as the deed says, by their places in the order of sending.
    fn injected_places(&self) -> Vec<usize> {
        self.injection
            .map_or_else(Vec::new, |injection| (injection.places)(&self.sale.load))
    }
}
