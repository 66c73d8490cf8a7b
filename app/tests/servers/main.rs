//! The shop on real servers. A second instance is a second `Shop` on the same stores: each keeps its own memory.
#![allow(clippy::unwrap_used, reason = "a test that fails may panic")]
// An instance that connects to every store is a deep future, and each test is laid out around one.
#![recursion_limit = "256"]

mod admin;
mod at;
mod bad_purchases;
mod claims;
mod combining;
mod conflict;
mod counters;
mod crash;
mod crowd;
mod fair;
mod fences;
mod flaws;
mod folder;
mod forgotten;
mod global_lock;
mod guards;
mod half_message;
mod harness;
mod held;
mod interval;
mod lab;
mod ledger;
mod lock_table;
mod locks;
mod native_flaws;
mod noop;
mod observed;
mod older_schema;
mod one_buyer;
mod openapi;
mod others_data;
mod outbox;
mod queues;
mod received;
mod reconciled;
mod redlock;
mod refusal;
mod round_trips;
mod saga;
mod seam;
mod stopped;
mod store_gone;
mod tcc;
mod three_phase;
mod traces;
mod two_phase;
mod unanswered;
mod unlock_before_write;
mod waiting;
mod wire;
