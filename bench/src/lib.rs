//! What locks, strategies and their growth cost: ratios within one run, each a median with its runs beside it.
//!
//! # Layout
//!
//! - [`lock`]: locks, side by side
//! - [`scale`]: how they grow
//! - [`path`]: what a sale costs on its way, beside a no-op that goes the same way
//! - [`setting`]: on what it is measured, and how often
//! - [`row`]: one line of a result, and what is written of all

pub mod lock;
pub mod path;
pub mod row;
pub mod scale;
pub mod setting;
