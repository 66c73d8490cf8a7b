//! The accused: a stock service that sells an item by whichever strategy a purchase names.
//!
//! # Layout
//!
//! Each floor uses only those below it.
//!
//! - [`http`]: routes, problem documents, the admin listener, metrics, start and stop
//! - [`instance`]: one instance put together: stores, catalogue, settings
//! - [`strategies`]: how a purchase is decided; one file each
//! - [`guards`]: what can stand around read-check-write
//! - [`reconciler`]: what ends purchases that a crash left half done
//! - [`world`]: what a strategy finds around it when it is opened
//! - [`stores`], [`services`]: where stock and orders live; where everything is that is needed
//! - [`timeouts`]: the wait for a lock, the life of a lock
//! - [`probe`]: the seam that every step of a strategy passes
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
