//! The explorer: plays the interleavings of two or three purchases at one or two instances on real stores, one step at a time, and
//! finds those that oversell.
//!
//! It is a stateless model checker: depth first, each schedule from a fresh sale, with a bound on preemptions and events. It
//! uses the mechanisms of `app` unchanged, through an observer at the seam, and judges by the audit of `loadtest`. Purchases,
//! workers that look for work, and renewals are held; listeners run when they want.

#![cfg_attr(test, allow(clippy::unwrap_used, reason = "a test that fails may panic"))]

mod afterwards;
mod arrivals;
mod background;
mod bounds;
mod choice;
mod columns;
mod course;
mod depth_first;
mod estimate;
mod events;
mod given;
mod instances;
pub mod isolation;
mod judge;
mod keys;
mod late_requests;
mod leases;
mod lock_waits;
mod news;
mod place;
mod play;
mod purchases;
mod random;
mod renewals;
mod replica;
mod schedule;
mod search;
mod sessions;
mod sql_server;
mod story;
mod taken;
mod turns;
mod workers;

pub use arrivals::Arrivals;
pub use bounds::Bounds;
pub use choice::{Choice, Choose, Cost, EventKind, InStores, Moment, Mover, Possible};
pub use columns::{columns, row};
pub use given::Given;
pub use instances::Kind;
pub use play::{Play, Player};
pub use random::Random;
pub use schedule::{Line, Schedule, WorkLine};
pub use search::{End, Found, Violation, sample, search, search_until};
pub use story::story;
pub use taken::Taken;
pub use turns::Turns;
pub use workers::Work;
