//! The trial of a lying shop by the whole experiment over real stores: the witness must find every lie, and must accuse
//! no honest shop.
#![allow(clippy::unwrap_used, reason = "a test that fails may panic")]

mod apart;
mod classes;
mod cluster;
mod damaged;
mod expected;
mod honest;
mod lies;
mod postgres;
mod runner;
mod sale_set;
mod schema;
mod second_sql;
mod segments;
mod spoiled;
mod trial_lock;
mod workers;
