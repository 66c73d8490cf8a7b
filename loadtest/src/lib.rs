//! The experiment: attacks a shop over HTTP, reads its ledgers behind its back, and judges.
//!
//! It shares no code with the shop. What it knows of it is the contract, `docs/contract.md`.
//!
//! # Layout
//!
//! - [`plan`], [`threats`], [`load`]: which rounds are played, strategy x threat x instances x repeat; one file for each
//!   threat, and in `deeds` what several of them do in the same way
//! - [`soak`]: a random plan of what is claimed to be survived, and what all of it comes to
//! - [`deployment`], [`need`], [`instances`]: whose shop is on trial, what of it is ours, who is there, who has died
//! - [`shop`], [`catalogue`], [`answer`], [`http`], [`text`]: the client of the contract, wary of what it is told
//! - [`attack`], [`follow_up`]: goose's buyers, all released at once, and those who come one at a time afterwards
//! - [`workers`]: the same from several machines, for one run
//! - [`told`], [`facts`], [`audit`]: what buyers were told, what the stores say, and the verdict on both
//! - [`busy`]: how long nobody could buy
//! - [`pending`]: what is in between, where a shop with two stores tells of it
//! - [`trace`]: who took which step of a sale, where the shop writes that down
//! - [`experiment`], [`market`], [`sale`]: plays the plan; the sales stay open until the last look at the end of the run
//! - [`result`], [`cell`], [`latency`], [`environment`]: what is kept, and what the repeats of one trial say together
//! - [`summary`], [`compare`]: what became of each strategy; two runs side by side
//! - [`check`]: the contract point by point, and single requests to a shop
//! - [`demo`]: the smallest crowd there is, told step by step
//! - [`report`], [`mod@screen`]: how it is kept, one file each in one list; how it is shown at the end of a run
//! - [`pictures`]: what a document shows of it, one file each in one list

pub mod answer;
pub mod attack;
pub mod audit;
pub mod busy;
pub mod catalogue;
pub mod cell;
pub mod check;
pub mod compare;
mod deeds;
pub mod demo;
pub mod deployment;
pub mod environment;
pub mod experiment;
pub mod facts;
pub mod follow_up;
pub mod http;
pub mod instances;
pub mod latency;
pub mod load;
pub mod market;
pub mod need;
mod open_sales;
pub mod pending;
pub mod pictures;
pub mod plan;
pub mod report;
pub mod result;
pub mod sale;
pub mod screen;
pub mod shop;
pub mod soak;
pub mod summary;
pub mod text;
pub mod threats;
pub mod told;
pub mod trace;
pub mod workers;
