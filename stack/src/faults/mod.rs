//! Faults in servers that run in containers. A service that stands beside them carries them out.
//!
//! The service ([`serve_faults`]) is a relay before each server, and has two pipes to the script that runs it (`supervised`). A load
//! test ([`Faults`]) speaks with it over one TCP connection, in lines: first its token, then one request after the other, each with
//! one reply: `ok`, a blank and the value, or `error`, a blank and the reason.
//!
//! | request | value |
//! |---|---|
//! | `servers` | the servers that can be killed, and the addresses of such instances, separated by blanks |
//! | `relays` | the servers behind a relay, separated by blanks |
//! | `process SERVER kill`, `start` or `pause` | the number of its process in its container |
//! | `process SERVER stop` | its exit status |
//! | `process SERVER keep-ended` | the number of its process, which from now on stays ended when it ends by itself, until it is started |
//! | `process SERVER runs` | whether it runs (1 or 0) |
//! | `process SERVER begin`, `look` or `lose` | what [`journal()`] returns beside it |
//! | `relay SERVER CLIENT CHANGE` | nothing |
//! | `swap SERVER OTHER` | nothing: each has the name of the other from now on, and its new connections |
//! | `forward instance-N ADDRESS` | nothing: the relay before that instance leads there |
//! | `affected SERVER CLIENT` | the pieces that were affected since the last change |
//! | `journals` | the servers that can keep a journal of what they do not sync, separated by blanks |
//! | `clocks` | the servers that have a clock of their own, separated by blanks |
//! | `clock SERVER` | the nanoseconds that it is ahead, and how often it told the time since the last change |
//! | `clock SERVER NANOSECONDS` | nothing: it is that much ahead, or behind |
//! | `disks` | the servers whose disk can be full, separated by blanks |
//! | `disk SERVER` | its number, 0 where it has room, and how many calls failed since the last change |
//! | `disk SERVER NUMBER` | nothing: it has room for 0, and is full for all others; calls of the thread with this number are not counted |
//!
//! SERVER is also the address of an instance, and CLIENT that of an instance or of a proxy before them. When the connection ends, everything passes, every server runs again
//! without a journal, every disk has room and every clock is right, also after a load test that was killed. Only one connection at a time is served.

mod client;
mod journal;
mod parts;
mod remote;
mod requests;
mod server;
mod supervised;

pub use self::client::Faults;
pub(crate) use self::journal::RemoteJournal;
pub use self::journal::journal;
pub use self::parts::{RemoteInstances, ServiceUrls};
pub(crate) use self::remote::{RemoteNumbers, RemoteProcess, RemoteRelay};
pub use self::server::{FaultRelay, serve_faults};

/// Begins the name of a relay before an instance: `instance-1` and so on.
const INSTANCE: &str = "instance-";

/// The most bytes of a line in either direction.
const MOST_BYTES: u64 = 4_096;
