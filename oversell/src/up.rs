//! `oversell up`: a shop that stays up, and a lesson to type.

use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use anyhow::Result;
use loadtest::deployment::Local;
use stack::Shop;

use crate::exit::INTERRUPTED;
use crate::interrupt::Stop;
use crate::options::UpOptions;
use crate::running_shop::RunningShop;
use crate::{console, deployment, interrupt};

/// The time between two looks for an instance that has died. It is started again.
const LOOK_EVERY: Duration = Duration::from_millis(100);

/// Starts everything, prints how to reach it, and stays until it is asked to stop.
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
            console::note(format_args!("{name} had ended and was started again"));
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
    let running = RunningShop {
        host: shop.host(),
        admins: shop.admins(),
        admin_token: local.admin_token.clone(),
        urls: local.urls.clone(),
    };
    let file = running.keep(local.stores.folder())?;
    console::print(&lesson(&running, shop, &file))
}

/// Returns the addresses and a lesson. Each command fits a line that can be typed.
fn lesson(running: &RunningShop, shop: &Shop, file: &Path) -> String {
    let named = shop.instances().iter().zip(&running.admins);
    let instances: String = named
        .map(|(instance, admin)| format!("{:<8} {admin} (admin)\n", instance.name()))
        .collect();
    let admins: String = running
        .admins
        .iter()
        .map(|admin| format!("    --admin {admin} \\\n"))
        .collect();
    let (host, program, file) = (&running.host, console::program(), file.display());
    format!(
        r#"shop     {host}
{instances}file     {file}

In another terminal. Read the token and the stores of this shop:

  . {file}

Buy one of 100 units:

  {program} buy

Let 150 buyers come, 32 at a time, to a shop without a lock:

  {program} crowd none@redis

Look into the stores yourself:

  {program} redis GET 'stock:{{sku-1}}'
  {program} redis HLEN 'orders:{{sku-1}}'
  {program} sql 'select * from store'

Let the same crowd come to a Lua script:

  {program} crowd lua@redis

And once more, but now one purchase kills its instance before it
writes. The instance comes back:

  {program} crowd token@redis --fault crash@write

Put the shop on trial:

  {program} run --host {host} \
{admins}    --strategy none@redis,lua@redis --repeat 1

All strategies: {program} strategies
All routes: {host}/openapi.json
Ctrl-C stops everything.
"#
    )
}
