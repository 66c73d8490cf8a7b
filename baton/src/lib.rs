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
//! the lock. Send [`Held::fence`] with every write, and let the store decide by the rule below.
//!
//! ```no_run
//! # async fn sell() -> Result<(), Box<dyn std::error::Error>> {
//! use baton::{Baton, Settings};
//!
//! let client = redis::Client::open("redis://127.0.0.1")?;
//! let baton = Baton::connect(client, Settings::default()).await?;
//! let held = baton.lock("sku-1").await?;
//! // SELECT num, fence FROM stock WHERE id = 'sku-1' -- the fence that is seen
//! // UPDATE stock SET num = ?, fence = held.fence() WHERE id = 'sku-1' AND fence = seen AND fence < held.fence()
//! if !held.is_lost() {
//!     held.release().await?;
//! }
//! # Ok(())
//! # }
//! ```
//!
//! # The rule for the store
//!
//! A store that keeps the fence of its last writer beside the value accepts a write if both are true:
//!
//! 1. the fence is higher than every one that has written: `fence < mine`;
//! 2. nobody has written since this holder read: `fence = seen`.
//!
//! The first condition alone is **not enough**. It refuses an old holder that writes after a new one. It does not
//! refuse an old holder that writes between the read and the write of the new one, which then overwrites it:
//!
//! ```text
//! A: fence 33; reads 2; stopped for longer than its lease
//!                     B: fence 34; reads 2
//! A: writes 1 where fence < 33 -> written
//!                     B: writes 1 where fence < 34 -> written: two sold, and one is left
//!                     B: writes 1 where fence = 0 and fence < 34 -> refused: A's 33 is there
//! ```
//!
//! The example `stock` has both statements, and a test runs this order of events on MariaDB.
//!
//! The fences rise also after Redis has lost its data, because the count begins with the time of Redis. If Redis loses
//! its data while its clock is behind the last fence, the count begins below it and rises by one. The store then refuses
//! everybody, also when the clock is right again, until the count is deleted.
//!
//! # Requirements
//!
//! One Redis, version 6.0.6 or later, also one that fails over; or a Redis Cluster, version 7.0 or later, see
//! [`Baton::connect_cluster`].
//!
//! # Layout
//!
//! - [`Baton`] (`process`): the locks of one process; `ticket`: one request for a lock; [`Held`], `hold`: a held lock
//! - `local_queue`: passes a lock on inside the process, up to a batch; `listener`: receives handoffs; `shard_channels`:
//!   receives them in a cluster; `renewal`: renews leases
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
mod shard_channels;
mod shared;
mod ticket;
mod waiters;
mod wire;

pub use error::Error;
pub use held::{Held, Released};
pub use hook::{Hook, Operation, PendingOperation, Summary};
pub use process::Baton;
pub use settings::Settings;
