//! The attack of one round: all buyers released at once, an exact number of purchases, every response kept.
//!
//! Some purchases are sent more than once, as by buyers that click twice. They are drawn anew for each round, so the
//! shop cannot know them.

mod control;
mod crowd;
mod delivery;
mod injection;
mod longest;
mod proof;
mod running;
mod send_order;
mod repeats;

pub use control::AttackControl;
pub use crowd::{AttackResult, Crowd};
pub use delivery::Delivery;
pub use injection::Injection;
pub use longest::longest;
pub use proof::Proof;
pub use running::end_of_numbers;
pub use send_order::{ResponsePair, SendOptions};

use crate::phase::Phase;
use crate::sale::sale_set::SaleSet;

/// The plan of one attack.
pub struct Attack {
    /// The items for sale, and the shop.
    pub sale: SaleSet,
    /// The public URL of each instance, past the proxy; the proxy alone where no more is known.
    pub publics: Vec<String>,
    /// Whether each purchase waits for the response to the one before: a control, in which no two purchases may meet.
    pub one_at_a_time: bool,
    /// The fault of the attack, if there is one.
    pub injection: Option<&'static Injection>,
    /// The phase in which the fault comes, where the threat is played in several.
    pub phase: Option<Phase>,
}

impl Attack {
    /// Returns whether workers can send this attack: no purchase waits for another, and no fault is injected.
    pub fn can_be_shared(&self) -> bool {
        !self.one_at_a_time && self.injection.is_none()
    }

    /// Returns the places of the purchases that the injection sends itself, in the order of sending.
    fn injected_places(&self) -> Vec<usize> {
        self.injection
            .map_or_else(Vec::new, |injection| (injection.places)(&self.sale.load))
    }
}
