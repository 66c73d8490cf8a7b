//! The experiment: attacks a shop over HTTP, reads its ledgers behind its back, and judges.
//!
//! It shares no code with the shop. It knows only the contract, `docs/contract.md`.
//!
//! # Layout
//!
//! The rooms, in the order of a round. Each room uses only rooms that stand below it in the second list.
//!
//! - [`plan`], [`threats`], [`faults`]: the rounds to play; one file for each threat; faults that several threats share
//! - [`attack`], [`workers`]: goose's buyers, all released at once, on one machine or several
//! - [`follow_up`]: buyers that come one at a time after the attack
//! - [`facts`], [`responses`], [`trace`]: the content of the stores, the shop's responses, the steps that the shop traced
//! - [`audit`]: the verdict, a pure function of responses and facts
//! - [`result`], [`report`]: the result of a run, and its reports
//! - [`experiment`], [`demo`]: play a whole plan, or the smallest possible crowd
//! - [`check`]: compares a shop with the contract, point by point
//!
//! From the bottom up: [`text`], [`trust`], [`http`], [`facts`], [`shop`] (the client of the contract), [`phase`], [`responses`],
//! [`audit`], [`trace`], [`sale`], [`deployment`], [`attack`], [`faults`], [`threats`], [`plan`], [`workers`], [`follow_up`],
//! [`result`], [`experiment`], [`report`], [`demo`], [`check`].

pub mod attack;
pub mod audit;
pub mod check;
pub mod demo;
pub mod deployment;
pub mod experiment;
pub mod facts;
pub mod faults;
pub mod follow_up;
pub mod http;
pub mod phase;
pub mod plan;
pub mod report;
pub mod responses;
pub mod result;
pub mod sale;
pub mod shop;
pub mod text;
pub mod threats;
pub mod trace;
pub mod trust;
pub mod workers;
