//! Starts real Redis, MariaDB and nginx and the shop's instances as private child processes, without Docker.
//!
//! # Layout
//!
//! From the outside in; each module uses only those below it, but for `faults`: a process, a relay, a clock, a disk and a journal in a container
//! are reached through it.
//!
//! - `stores`: [`Stores`], the two stores of every shop (`redis` and `mariadb`, one program each, with their replicas; `link`: from
//!   a replica to its primary; `sql_replica`: that of MariaDB or of PostgreSQL)
//! - `services`: servers that only some strategies need, one file each (`postgres`: one program)
//! - `local_shop`: [`Shop`], the instances and the proxy before them (`shop_options`; `instance`, `nginx`: one program each)
//! - `relay`: [`Relay`], a relay before a server, which can delay, hold back or cut
//! - `service`: [`Service`], one process, which can be paused, resumed, killed and restarted: a child of this one (`child`), or one in
//!   a container (`server_elsewhere`: its URL)
//! - `faults`: [`serve_faults`], what strikes servers in containers, and [`Faults`], the connection to it
//! - `clock`: [`Clock`], the clock of a process, which can step ahead or back
//! - `disk`: [`Disk`], the disk of a process, which can be full
//! - `unsynced`: [`Unsynced`], what a process wrote and did not sync, which a loss of power undoes
//! - `preloaded`: the libraries of the three before, and the numbers through which they are told
//! - `process_tree`: a child with its descendants, which get each signal too
//! - `launch`, `ready`, `log`: the start of a child, the check whether it serves, its output
//! - `spawner`, `child_setup`: the thread that starts every child, and the steps of a child between fork and exec
//! - `service_kind`: [`ServiceKind`], the services that a strategy can name
//! - `locate`: [`locate()`], from a [`ServerKind`] to a [`Program`] (`server_kind`, `program`)
//! - `packages`: the rootless fetch of the distribution's own packages into a private cache
//! - `folder`: [`Folder`], the private folder of one run, and the sweep of folders whose owner was killed
//! - `service_location`, `address`, `http`, `ports`, [`loopback`]: sockets and ports, their URLs, one GET, free TCP ports, and the
//!   interface that they are on
#![cfg_attr(test, allow(clippy::unwrap_used, reason = "a test that fails may panic"))]

mod address;
mod child;
mod child_setup;
mod clock;
mod disk;
mod faults;
mod folder;
mod http;
mod instance;
mod launch;
mod link;
mod local_shop;
mod locate;
mod log;
mod mariadb;
mod nginx;
mod packages;
mod ports;
mod postgres;
mod preloaded;
mod process_tree;
mod program;
mod ready;
mod redis;
mod relay;
mod server_elsewhere;
mod server_kind;
mod service;
mod service_kind;
mod service_location;
mod services;
mod shop_options;
mod spawner;
mod sql_replica;
mod stores;
mod unsynced;

pub mod loopback;

pub use child_setup::set_apart;
pub use clock::Clock;
pub use disk::Disk;
pub use faults::{FaultRelay, Faults, RemoteInstances, ServiceUrls, journal, serve_faults};
pub use folder::{Folder, owned};
pub use launch::Launch;
pub use local_shop::Shop;
pub use locate::{fetched_to, find, locate};
pub use log::Log;
pub use mariadb::{MariaDbFailover, MariaDbReplica};
pub use postgres::{PgFailover, PgReplica};
pub use program::{Origin, Program};
pub use ready::Ready;
pub use redis::{
    AtLimit, ClusterFailover, ClusterPartition, Failover, Lease, MemoryLimit, RedisReplica, SlotMigration,
};
pub use relay::{Direction, InstanceRelays, LateRequest, Relay};
pub use server_elsewhere::ServerElsewhere;
pub use server_kind::ServerKind;
pub use service::Service;
pub use service_kind::ServiceKind;
pub use service_location::ServiceLocation;
pub use shop_options::ShopOptions;
pub use sql_replica::{SqlFailover, SqlReplica};
pub use stores::{Parts, Stores, running};
pub use unsynced::{Loss, Unsynced};
