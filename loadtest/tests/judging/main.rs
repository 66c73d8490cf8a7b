//! Everything between an answer and a report that needs no server: reading, judging, planning, summing up, rendering.
#![allow(clippy::unwrap_used, reason = "a test that fails may panic")]

mod absence;
mod audit;
mod busy;
mod catalogue;
mod causes;
mod cell;
mod chance;
mod charts;
mod choice;
mod chosen;
mod edited;
mod evidence;
mod fixture;
mod folders;
mod forged;
mod incidents;
mod inconclusive;
mod known_again;
mod loss;
mod matrix;
mod pending;
mod names;
mod page;
mod phases;
mod plan;
mod properties;
mod report;
mod responses;
mod sale_set;
mod soak;
mod stories;
mod trace;
mod tracing;
mod turns;
mod work;
