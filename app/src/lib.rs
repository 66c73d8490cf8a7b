//! The accused: a stock service that sells an item by whichever strategy a purchase names.
//!
//! # Layout
//!
//! Each floor uses only those below it.
//!
//! - [`http`]: routes, problem documents, the admin listener, metrics, start and stop
//! - [`shop`]: one instance put together: stores, catalogue, settings
//! - [`strategies`]: how a purchase is decided; one file each, and the one list of them
//! - [`guards`], [`stores`]: what can stand around read-check-write; where stock and orders live
//! - [`probe`]: the seam that every step of a strategy passes, where faults strike
//! - [`sale`]: the vocabulary
#![cfg_attr(test, allow(clippy::unwrap_used, reason = "a test that fails may panic"))]

pub mod guards;
pub mod http;
pub mod probe;
pub mod sale;
pub mod shop;
pub mod stores;
pub mod strategies;
