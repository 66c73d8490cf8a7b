//! The experiment: attacks a shop over HTTP, reads its ledgers behind its back, and judges.
//!
//! It shares no code with the shop. What it knows of it is the contract, `docs/contract.md`.
//!
//! # Layout
//!
//! - [`plan`]: which rounds are played: strategy x threat x instances x repeat
//! - [`threats`]: how the world turns against a strategy; one file each, and the one list of them
//! - [`ground`], [`shop`]: whose shop is on trial, and the client of its contract
//! - [`attack`]: goose's buyers, all released at once
//! - [`told`], [`facts`], [`audit`]: what buyers were told, what the stores say, and the verdict on both
//! - [`experiment`]: plays the plan
//! - [`result`], [`cell`]: what is kept of each round, and what the repeats of one trial say together
//! - [`report`]: how it is shown; one file each, and the one list of them

pub mod attack;
pub mod audit;
pub mod cell;
pub mod environment;
pub mod experiment;
pub mod facts;
pub mod ground;
pub mod plan;
pub mod report;
pub mod result;
pub mod shop;
pub mod threats;
pub mod told;
