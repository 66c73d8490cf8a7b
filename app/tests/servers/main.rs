//! The shop on real servers. A second instance is a second `Shop` on the same stores: what it keeps in memory is its own.
#![allow(clippy::unwrap_used, reason = "a test that fails may panic")]

mod admin;
mod bad_purchases;
mod conflict;
mod crash;
mod crowd;
mod fences;
mod flaws;
mod folder;
mod guards;
mod harness;
mod lab;
mod ledger;
mod observed;
mod older_schema;
mod one_buyer;
mod openapi;
mod received;
mod refusal;
mod round_trips;
mod seam;
mod store_gone;
mod traces;
mod waiting;
mod wire;
