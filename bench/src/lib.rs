//! What locks, strategies and their growth cost: ratios within one run, each a median with its runs beside it.
//!
//! # Layout
//!
//! - [`lock`]: locks, side by side
//! - [`scale`]: how they grow
//! - [`setting`]: on what it is measured, and how often
//! - [`row`]: one line of a result, and what is written of all

pub mod lock;
pub mod row;
pub mod scale;
pub mod setting;
