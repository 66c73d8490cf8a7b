//! What locks, strategies and their growth cost: ratios within one run, each a median with its runs beside it.
//!
//! # Layout
//!
//! - [`row`]: one line of a result, and what is written of all

pub mod row;
