//! Load from several machines. One run plans, follows up and judges. Workers ask it for an assignment in each round,
//! send these purchases when every worker has one, and report the responses.
//!
//! ```text
//! worker: POST /shares            -- waits until every worker has asked
//! run:    200 with an assignment  -- the number of buyers and purchases, and the first purchase
//! worker: buys              -- the run looks at the ledgers meanwhile
//! worker: POST /shares/{id}       -- every response, with its times since the assignment came
//! worker: POST /shares            -- 410 when the run is over
//! ```
//!
//! Every request carries the bearer token of the workers. No shop knows it: a shop that took an assignment could send
//! nothing and report responses that its ledger bears out. Clocks of two machines are never compared: a worker's times
//! count from its own start.

mod assignment;
mod coordinator;
mod looks;
mod responses;
mod worker;

pub use assignment::Assignment;
pub(crate) use coordinator::COME_WITHIN;
pub use coordinator::{Coordinator, Listening};
pub use responses::AssignmentResponses;
pub use worker::work;
