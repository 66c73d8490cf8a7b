//! A lock in Redis that its holder hands to the next waiter.
//!
//! ```text
//! A: acquire -> owner, fence 33
//!                     B: acquire -> place 0 in the queue
//! A: release -- one script: B is the owner, fence 34; PUBLISH to B's process
//!                     B: receives the message and has the lock
//! ```
//!
//! - **One round trip per handoff.** The script that releases the lock also chooses the next holder, so
//!   waiters do not race.
//! - **Fair.** The queue is first come, first served, across all processes, unless [`Settings::batch`] is above 1.
//! - **Neighbours share a handoff.** Waiters of one process that are next to each other in the queue get the lock
//!   together. They pass it on among themselves without Redis.
//! - **Crashes cost little.** The script skips a waiter whose process no longer listens. A new lock lives only for a
//!   short grace. The first renewal extends it to the whole lease, and a dead process does not renew.
//!
//! **A lease is not mutual exclusion.** A process that was stopped for longer than its lease continues as if it held
//! the lock. Send [`Held::fence`] with every write, and let the store refuse a fence below the highest one that it has
//! seen.
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
//! # Requirements
//!
//! One Redis, version 6.0.6 or later, also one that fails over. Redis Cluster does not work: PUBLISH does not count the
//! subscribers of other nodes.
//!
//! # Layout
//!
//! - [`Baton`] (`process`): the locks of one process; `ticket`: one request for a lock; [`Held`], `hold`: a held lock
//! - `local_queue`: passes a lock on inside the process, up to a batch; `listener`: receives handoffs; `renewal`:
//!   renews leases
//! - `shared`: the state of one process; `waiters`: its waiters and its locks; `lease`: how long a lock is held
//! - `scripts`: the scripts in Redis; `wire`: the connections; [`Hook`]: code around each operation

mod error;
mod held;
mod hold;
mod hook;
mod lease;
mod listener;
mod local_queue;
mod process;
mod renewal;
mod scripts;
mod settings;
mod shared;
mod ticket;
mod waiters;
mod wire;

pub use error::Error;
pub use held::{Held, Released};
pub use hook::{Hook, Operation, PendingOperation, Summary};
pub use process::Baton;
pub use settings::Settings;
