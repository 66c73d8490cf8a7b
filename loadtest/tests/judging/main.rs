//! Everything between an answer and a report that needs no server: hearing, judging, planning, summing up, rendering.
#![allow(clippy::unwrap_used, reason = "a test that fails may panic")]

mod audit;
mod busy;
mod catalogue;
mod cell;
mod chance;
mod chosen;
mod evidence;
mod fixture;
mod folders;
mod forged;
mod inconclusive;
mod known_again;
mod market;
mod matrix;
mod pending;
mod pictures;
mod plan;
mod properties;
mod report;
mod soak;
mod stories;
mod told;
mod trace;
mod tracing;
mod turns;
