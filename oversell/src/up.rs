//! `oversell up`: the shop, left up to be played with.

use std::sync::Arc;
use std::time::Duration;

use anyhow::Result;
use loadtest::deployment::Local;
use stack::Shop;

use crate::exit::INTERRUPTED;
use crate::options::UpOptions;
use crate::{deployment, interrupt};

/// How often an instance that has died (somebody asked it to crash) is looked for and started again.
const LOOK_EVERY: Duration = Duration::from_millis(100);

/// Starts everything, says how to reach it, and stays until asked to stop.
pub fn up(options: UpOptions) -> Result<u8> {
    interrupt::unless_interrupted(stay(options)).unwrap_or(Ok(INTERRUPTED))
}

async fn stay(options: UpOptions) -> Result<u8> {
    let (local, shop) = tokio::task::spawn_blocking(move || start(&options)).await??;
    let shop = Arc::new(shop);
    tell(&local, &shop);
    loop {
        tokio::time::sleep(LOOK_EVERY).await;
        let shop = shop.clone();
        for name in tokio::task::spawn_blocking(move || shop.revive()).await?? {
            eprintln!("{name} had ended and was started again");
        }
    }
}

fn start(options: &UpOptions) -> Result<(Local, Shop)> {
    let local = deployment::local(&options.stack)?;
    let mut wanted = local.options.clone();
    wanted.instances = options.instances.into();
    wanted.port = options.port;
    let shop = local.stores.shop(&wanted)?;
    Ok((local, shop))
}

fn tell(local: &Local, shop: &Shop) {
    let host = shop.host();
    println!("shop     {host}");
    for (instance, admin) in shop.instances().iter().zip(shop.admins()) {
        println!("{:<8} {admin} (admin)", instance.name());
    }
    println!("redis    {}", local.stores.redis_url());
    println!("sql      {}", local.stores.sql_url());
    println!("token    {}", local.admin_token);
    println!("\nBuy one of 100:\n");
    println!("  curl -s {host}/purchases -H 'content-type: application/json' -H 'x-strategy: none@redis' \\");
    println!("    -d '{{\"item\":\"sku-1\",\"quantity\":1,\"buyer\":\"me\"}}'");
    println!("\nCtrl-C stops everything.");
}
