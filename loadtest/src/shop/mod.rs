//! The client of the contract. It treats every byte that a shop sends as hostile.

pub mod catalogue;
mod client;
pub mod instances;
pub mod pending;
pub mod response;

pub use client::{ANSWER_WITHIN, Address, MAX_CATALOGUE, PurchaseRequest, ShopClient};
