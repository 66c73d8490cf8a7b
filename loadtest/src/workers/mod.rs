//! Load from several machines. One run plans, follows up and judges; workers ask it for their share of each round, send those
//! purchases when all of them have one, and give back what buyers were told.
//!
//! ```text
//! worker: POST /shares            -- is answered when every worker has asked, all at once
//! run:    200 with a share        -- so many buyers, so many purchases, from this number on
//! worker: buys
//! worker: POST /shares/{id}       -- every answer, with its times since the share came
//! worker: POST /shares            -- 410 when the run is over
//! ```
//!
//! Every request brings the bearer token of the shop's admin listener. Clocks of two machines are never compared: a worker's times
//! are counted from the moment at which it was let loose.

mod assignment;
mod coordinator;
mod responses;
mod worker;

pub use assignment::Assignment;
pub use coordinator::{Coordinator, Listening};
pub use responses::AssignmentResponses;
pub use worker::work;
