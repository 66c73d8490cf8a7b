//! Shops that know nothing of this program are put on trial by a shop file.
#![allow(clippy::unwrap_used, reason = "a test that fails may panic")]

mod closed;
mod faults;
mod hostile;
mod relayed_shop;
mod several;
mod shop;
mod tls;
mod verdicts;
