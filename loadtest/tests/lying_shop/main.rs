//! A shop that lies, tried by the whole experiment over real stores: the witness has to see through every lie, and to
//! let an honest shop pass.
#![allow(clippy::unwrap_used, reason = "a test that fails may panic")]

mod apart;
mod classes;
mod expected;
mod honest;
mod lies;
mod runner;
mod sale_set;
mod schema;
mod second_sql;
mod segments;
mod spoiled;
