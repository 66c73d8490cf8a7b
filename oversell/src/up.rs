//! `oversell up`: a shop that stays up, and a lesson to type.

use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use anyhow::{Context, Result};
use loadtest::deployment::Local;
use stack::Shop;

use crate::exit::INTERRUPTED;
use crate::interrupt::Stop;
use crate::live::Live;
use crate::options::{RemoteOptions, UpOptions};
use crate::running_shop::RunningShop;
use crate::{console, deployment, interrupt, stdout};

/// The time between two looks for an instance that has died. It is started again.
const LOOK_EVERY: Duration = Duration::from_millis(100);

/// Starts everything, prints how to reach it, and stays until it is asked to stop.
pub fn up(options: UpOptions) -> Result<u8> {
    // The buyers of the page would write there.
    let mut stdout = stdout::keep_aside().context("stdout cannot be kept aside for the lesson")?;
    let up = |stop: Stop| async move {
        let (live, local, shop) = tokio::select! {
            started = start(options) => started?,
            _ = stop.wait() => return Ok(INTERRUPTED),
        };
        console::print_to(&mut stdout, &tell(&local, &shop, &live.url()?)?)?;
        tokio::select! {
            kept = keep_up(shop) => kept,
            served = live.serve(stop) => served.map(|()| INTERRUPTED),
        }
    };
    interrupt::unless_interrupted(up).unwrap_or(Ok(INTERRUPTED))
}

async fn start(options: UpOptions) -> Result<(Live, Arc<Local>, Arc<Shop>)> {
    let live = Live::open(options.page.clone(), RemoteOptions::default(), options.stack.clone()).await?;
    let local = Arc::new(deployment::local(options.stack.clone(), Vec::new()).await?);
    let starting = local.clone();
    let shop = tokio::task::spawn_blocking(move || start_shop(&starting, &options)).await??;
    Ok((live, local, Arc::new(shop)))
}

/// Starts instances again that have died.
async fn keep_up(shop: Arc<Shop>) -> Result<u8> {
    loop {
        tokio::time::sleep(LOOK_EVERY).await;
        let shop = shop.clone();
        for name in tokio::task::spawn_blocking(move || shop.revive()).await?? {
            console::note(format_args!("{name} had ended and was started again"));
        }
    }
}

fn start_shop(local: &Local, options: &UpOptions) -> Result<Shop> {
    let mut wanted = local.options.clone();
    wanted.instances = options.instances.into();
    wanted.port = options.port;
    local.stores.shop(&wanted)
}

fn tell(local: &Local, shop: &Shop, page: &str) -> Result<String> {
    let running = RunningShop {
        host: shop.host(),
        admins: shop.admins(),
        admin_token: local.admin_token.clone(),
        urls: local.urls.clone(),
    };
    let file = running.keep(local.stores.folder())?;
    Ok(lesson(&running, shop, &file, page))
}

/// Returns the addresses and a lesson. Each command fits a line that can be typed.
fn lesson(running: &RunningShop, shop: &Shop, file: &Path, page: &str) -> String {
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
        r#"page     {page}
shop     {host}
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

The workshop: {program} lab
All strategies: {program} strategies
All routes: {host}/openapi.json
Ctrl-C stops everything.
"#
    )
}
