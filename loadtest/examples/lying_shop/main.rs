//! A shop that follows `docs/contract.md` on real Redis and MariaDB, or breaks it in one chosen way.
//!
//! One process is one instance, as `stack` starts it: `--lie NAME --instance NAME --listen ADDR --admin-listen ADDR`,
//! with `OVERSELL_REDIS_URL`, `OVERSELL_SQL_URL` and `OVERSELL_ADMIN_TOKEN`. `--list` prints the lies.
//!
//! `lies` is the one list. Each class of lies is one file in `classes`, written as a departure from `honest_sale`.
//! State that the instances share, and that survives a crash, is in Redis under `lie:{item}`.
#![allow(clippy::unwrap_used, reason = "only what this program made itself is unwrapped")]

mod answer;
mod catalogue;
mod classes;
mod endless;
mod fault;
mod honest_sale;
mod http;
mod lies;
mod locks;
mod lying_instance;
mod notes;
mod options;
mod purchase;
mod response;
mod store;
mod tunnel;

use std::sync::Arc;
use std::time::Duration;

use anyhow::{Context, Result};
use tokio::net::TcpListener;

use crate::lies::{Class, Lie};
use crate::lying_instance::Shop;
use crate::options::Options;

#[tokio::main]
async fn main() -> Result<()> {
    let Some(options) = Options::from_command_line() else {
        lies::print_list();
        return Ok(());
    };
    let starts_after_s = match options.lie {
        Lie::StartsSlowly => 3,
        lie if classes::faults::is_of_survivors(lie) => 1,
        _ => 0,
    };
    tokio::time::sleep(Duration::from_secs(starts_after_s)).await;
    let shop = Arc::new(Shop::open(&options).await?);
    classes::faults::is_back(&shop).await?;
    // The admin listener is the last one: `stack` considers an instance started when it answers there.
    let public = bind(&options.listen).await?;
    let closing = options.lie == Lie::ClosesConnections;
    let public = if closing {
        tunnel::closing(public).await?
    } else {
        public
    };
    let serve = axum::serve(public, http::public(shop.clone()));
    tokio::spawn(async move { serve.await });
    let admin = bind(&options.admin_listen).await?;
    let hides = options.lie == Lie::CrashClosesAdmin || lies::entry(options.lie).class == Class::Identity;
    let admin = if hides {
        tunnel::through(admin, shop.admin_connections.clone()).await?
    } else {
        admin
    };
    axum::serve(admin, http::admin(shop))
        .await
        .context("the admin listener ended")
}

async fn bind(address: &str) -> Result<TcpListener> {
    let bound = TcpListener::bind(address).await;
    bound.with_context(|| format!("cannot listen on {address}"))
}
