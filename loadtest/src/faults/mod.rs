//! What several threats do to a shop in the same way.

pub(crate) mod crash;
pub(crate) mod every_step;
pub(crate) mod hang_up;
pub(crate) mod hold;
pub(crate) mod relays;
pub(crate) mod restart;
pub(crate) mod stand_still;
pub(crate) mod take_over;
