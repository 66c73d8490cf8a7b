//! The lock on a real Redis. Two processes are two `Baton`s: neither knows more of the other than Redis does.
#![allow(clippy::unwrap_used, reason = "a test that fails may panic")]

mod around;
mod crowd;
mod cuts;
mod hand_over;
mod leaving;
mod losses;
mod silence;
mod world;
