//! A lock in Redis that is handed from its holder to the next waiter.
//!
//! ```text
//! A: acquire -> owner, fence 33
//!                     B: acquire -> place 0 in the queue
//! A: release -- one script: B is the owner, fence 34; PUBLISH to B's process
//!                     B: hears that it has the lock
//! ```
//!
//! Who releases says in the same script who is next, so a hand-over costs one round trip, and nobody races. The queue is
//! first come, first served over all processes. Waiters of one process that stand next to each other in it are given the lock
//! together, and have it one after the other without Redis. A waiter whose process listens no more is skipped in that script.
//! A lock lives for a short grace at first; the first renewal, which a dead process does not send, gives it the whole lease.
//!
//! **A lease is not mutual exclusion.** A process that is stopped for longer than its lease goes on as if it held the lock. Give
//! [`Held::fence`] to what you write to, and let that refuse a fence below one that it has seen.
//!
//! ```no_run
//! # async fn sell() -> Result<(), Box<dyn std::error::Error>> {
//! use baton::{Baton, Settings};
//!
//! let client = redis::Client::open("redis://127.0.0.1")?;
//! let baton = Baton::connect(client, Settings::default()).await?;
//! let held = baton.lock("sku-1").await?;
//! // UPDATE ... SET fence = ? WHERE fence < ?, with held.fence()
//! if !held.is_lost() {
//!     held.release().await?;
//! }
//! # Ok(())
//! # }
//! ```
//!
//! For one Redis from version 6.0.6, also one that fails over; not for Redis Cluster, where PUBLISH does not say who listens at another node.
//!
//! # Layout
//!
//! - [`Baton`], `ticket`: the way to the lock; [`Held`], `lease`: the lock, and until when it is ours
//! - `scripts`: what Redis does in one step; `wire`: the connections; `listener`: what Redis says without being asked
//! - `desk`: who waits and who holds in this process; `renewal`: one timer for all that is held
//! - `local_queue`: passes a lock on inside the process a few times before it is given back
//! - [`Around`]: for a program that wants to see or disturb each command

mod around;
mod baton;
mod desk;
mod error;
mod held;
mod lease;
mod listener;
mod local_queue;
mod renewal;
mod scripts;
mod settings;
mod ticket;
mod wire;

pub use around::{Act, Around, Going, Said};
pub use baton::Baton;
pub use error::Error;
pub use held::{Held, Released};
pub use settings::Settings;
