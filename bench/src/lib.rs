//! Benchmarks of locks and purchases. Figures are ratios within one run; each is a median, with its runs beside it.
//!
//! # Layout
//!
//! - [`lock`]: compares locks
//! - [`scale`]: compares locks as waiters, instances and items grow
//! - [`path`]: measures what a sale costs on its route, beside a no-op on the same route
//! - [`setting`]: the servers and the repeats
//! - [`row`]: one row of a result, and the result file

pub mod lock;
pub mod path;
pub mod row;
pub mod scale;
pub mod setting;
