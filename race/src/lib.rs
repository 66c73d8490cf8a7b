//! Puts any shop on trial: a shop file describes the shop as it is, its buyers are released at one moment, and what they were told
//! is compared with the stock and the orders by the audit of the load test.
//!
//! The shop is not changed and has no part of ours. What the shop file does not describe is not judged, and the verdict says so.

#![cfg_attr(test, allow(clippy::unwrap_used, reason = "a test that fails may panic"))]

mod description;
mod fault;
mod gate;
mod hidden;
mod judged;
mod ledger;
mod own;
mod play;
mod program;
mod reading;
mod round;
mod sale;
mod session;
mod trial;
mod volley;
mod walk;
mod wire;

pub use description::{Description, EXAMPLE, SCHEMA};
pub use fault::Struck;
pub use own::is_private;
pub use play::MOST_LATER;
pub use round::{ItemRound, Load, Round, Window};
pub use sale::CLOSE_WITHIN;
pub use trial::Trial;
pub use walk::{Walked, walk};
