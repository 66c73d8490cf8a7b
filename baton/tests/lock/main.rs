//! The lock on a real Redis. Each process is a `Baton` of its own: two of them meet only in Redis.
#![allow(clippy::unwrap_used, reason = "a test that fails may panic")]

mod cluster;
mod crowd;
mod cuts;
#[path = "../../examples/stock.rs"]
mod example;
mod handoff;
mod hook;
mod leaving;
mod losses;
mod silence;
mod stock;
mod world;
