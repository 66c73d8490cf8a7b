//! The explorer: plays the interleavings of two purchases at two instances on real stores, one step at a time, and finds
//! those that oversell.
//!
//! It is a stateless model checker: depth first, each schedule from a fresh sale, with a bound on preemptions and events. It
//! uses the mechanisms of `app` unchanged, through an observer at the seam, and judges by the audit of `loadtest`. Only
//! purchases are held: renewals and background workers run when they want.

mod choice;
mod columns;
mod instances;
mod judge;
mod leases;
mod lock_waits;
mod play;
mod schedule;
mod search;
mod turns;

pub use choice::{Choice, Cost, Point};
pub use columns::columns;
pub use instances::Kind;
pub use play::{Play, Player};
pub use schedule::{Line, Schedule};
pub use search::{Bounds, Found, search};
pub use turns::Taken;
