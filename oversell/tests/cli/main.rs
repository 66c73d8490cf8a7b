//! The program as a user meets it.
#![allow(clippy::unwrap_used, reason = "a test that fails may panic")]

mod absent_service;
mod any_shop;
mod bench_path;
mod check;
mod chinese;
mod closed_pipe;
mod containers;
mod doctor;
mod edited_results;
mod example;
mod explored;
mod famous;
mod faults;
mod harness;
mod interrupted;
mod labs;
mod lesson;
mod live_page;
mod loopback;
mod missing;
mod reachable;
mod readme;
mod shown_again;
mod soak;
mod sources;
mod stories;
mod tls;
mod trials;
mod usage;
mod workers;
