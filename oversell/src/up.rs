//! `oversell up`: the shop, left up to be played with.

use std::sync::Arc;
use std::time::Duration;

use anyhow::Result;
use loadtest::deployment::Local;
use stack::Shop;

use crate::exit::INTERRUPTED;
use crate::interrupt::Stop;
use crate::options::UpOptions;
use crate::{deployment, interrupt, say};

/// How often an instance that has died (somebody asked it to crash) is looked for and started again.
const LOOK_EVERY: Duration = Duration::from_millis(100);

/// Starts everything, says how to reach it, and stays until asked to stop.
pub fn up(options: UpOptions) -> Result<u8> {
    let up = |stop: Stop| async move {
        tokio::select! {
            ended = stay(options) => ended,
            _ = stop.wait() => Ok(INTERRUPTED),
        }
    };
    interrupt::unless_interrupted(up).unwrap_or(Ok(INTERRUPTED))
}

async fn stay(options: UpOptions) -> Result<u8> {
    let local = Arc::new(deployment::local(options.stack.clone(), Vec::new()).await?);
    let shop = {
        let local = local.clone();
        tokio::task::spawn_blocking(move || start(&local, &options)).await??
    };
    let shop = Arc::new(shop);
    tell(&local, &shop)?;
    loop {
        tokio::time::sleep(LOOK_EVERY).await;
        let shop = shop.clone();
        for name in tokio::task::spawn_blocking(move || shop.revive()).await?? {
            say::aside(format_args!("{name} had ended and was started again"));
        }
    }
}

fn start(local: &Local, options: &UpOptions) -> Result<Shop> {
    let mut wanted = local.options.clone();
    wanted.instances = options.instances.into();
    wanted.port = options.port;
    local.stores.shop(&wanted)
}

fn tell(local: &Local, shop: &Shop) -> Result<()> {
    let host = shop.host();
    let admins = shop.instances().iter().zip(shop.admins());
    let admins: String = admins
        .map(|(instance, admin)| format!("{:<8} {admin} (admin)\n", instance.name()))
        .collect();
    let (redis, sql, token) = (local.stores.redis_url(), local.stores.sql_url(), &local.admin_token);
    say::result(&format!(
        r#"shop     {host}
{admins}redis    {redis}
sql      {sql}
token    {token}

Buy one of 100:

  curl -s {host}/purchases -H 'content-type: application/json' -H 'x-strategy: none@redis' \
    -d '{{"item":"sku-1","quantity":1,"buyer":"me"}}'

Ctrl-C stops everything.
"#
    ))
}
