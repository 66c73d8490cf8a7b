//! The stock service under trial: it sells an item by the strategy that a purchase names.
//!
//! # Layout
//!
//! Each floor uses only those below it.
//!
//! - [`http`]: routes, problem documents, the admin listener, metrics, start and stop
//! - [`instance`]: one instance: its stores, catalogue and settings
//! - [`strategies`]: how a purchase is decided; one file for each strategy
//! - [`guards`]: the locks around read-check-write
//! - [`reconciler`]: ends the purchases that a crash left half done
//! - [`world`]: the stores, services and settings that a strategy receives when it is opened
//! - [`stores`], [`services`]: stock and orders; the URLs of stores and lock services
//! - [`timeouts`]: the longest wait for a lock, the lease of a lock
//! - [`probe`]: the seam that every step of a strategy goes through
//! - [`domain`], [`mechanism`]: the vocabulary
#![cfg_attr(test, allow(clippy::unwrap_used, reason = "a test that fails may panic"))]

mod complete_on_drop;
pub mod domain;
pub mod guards;
pub mod http;
pub mod instance;
pub mod mechanism;
pub mod probe;
pub mod reconciler;
pub mod services;
pub mod stores;
pub mod strategies;
pub mod timeouts;
pub mod world;
