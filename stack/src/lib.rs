//! Starts the world without Docker: real Redis, MariaDB and nginx, and the shop's instances, as private child processes.
//!
//! # Layout
//!
//! From the outside in; each module uses only those below it.
//!
//! - `stores`: [`Stores`], the two stores every shop sells from (`redis` with its replica, `mariadb`: one program each)
//! - `services`: what only some strategies need besides, one file each
//! - `shop`: [`Shop`], the instances and the proxy before them (`instance`, `nginx`: one program each)
//! - `relay`: [`Relay`], the way to a server, which can be slow, silent or cut
//! - `service`: [`Service`], one child process and the verbs of a fault: pause, resume, kill, restart
//! - `clock`: [`Clock`], the clock of a process, which can run ahead
//! - `launch`, `ready`, `log`: how a child is started, how it is known to be up, what it said
//! - `spawner`, `child_setup`: the thread that starts every child, and what a child does before it becomes its program
//! - `locate`: [`locate()`], from a [`ServerKind`] to a [`Program`] (`server_kind`, `program`)
//! - `packages`: the rootless fetch of the distribution's own packages into a private cache
//! - `folder`: [`Folder`], the private place of one run, and the sweep of places whose owner was killed
//! - `place`, `address`, `http`, `ports`: sockets and ports, their URLs, one GET, free TCP ports
#![cfg_attr(test, allow(clippy::unwrap_used, reason = "a test that fails may panic"))]

mod address;
mod child_setup;
mod clock;
mod folder;
mod http;
mod instance;
mod launch;
mod local_shop;
mod locate;
mod log;
mod mariadb;
mod nginx;
mod packages;
mod ports;
mod program;
mod ready;
mod redis;
mod relay;
mod server_kind;
mod service;
mod service_location;
mod services;
mod shop_options;
mod spawner;
mod stores;

pub use clock::Clock;
pub use folder::Folder;
pub use launch::Launch;
pub use local_shop::Shop;
pub use locate::{fetched_to, find, locate};
pub use log::Log;
pub use program::{Origin, Program};
pub use ready::Ready;
pub use redis::{Failover, RedisReplica};
pub use relay::{Direction, Relay};
pub use server_kind::ServerKind;
pub use service::Service;
pub use service_location::ServiceLocation;
pub use shop_options::ShopOptions;
pub use stores::{Parts, Stores, running};
