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
    let admins = shop.admins();
    let named = shop.instances().iter().zip(&admins);
    let instances: String = named
        .map(|(instance, admin)| format!("{:<8} {admin} (admin)\n", instance.name()))
        .collect();
    let (redis, sql, token) = (local.stores.redis_url(), local.stores.sql_url(), &local.admin_token);
    let addresses = format!("shop     {host}\n{instances}redis    {redis}\nsql      {sql}\ntoken    {token}\n");
    let admin = admins.first().map_or("", String::as_str);
    let each: String = admins.iter().map(|admin| format!(" --admin {admin}")).collect();
    let program = say::program();
    say::result(&format!(
        r#"{addresses}
Paste this into another terminal:

  export OVERSELL_ADMIN_TOKEN={token} OVERSELL_REDIS_URL='{redis}' OVERSELL_SQL_URL='{sql}'
  shop={host} admin={admin} auth="authorization: Bearer $OVERSELL_ADMIN_TOKEN" json="content-type: application/json"

Buy one of 100 units:

  curl -sw '\n' $shop/purchases -H "$json" -d '{{"item":"sku-1","quantity":1,"buyer":"me"}}'

Let 150 buyers come, 32 at a time, to a shop without a lock. Count the answers (201 is sold, 409 sold out):

  crowd() {{ seq 150 | xargs -P 32 -I{{}} curl -s -o /dev/null -w '%{{http_code}}\n' $shop/purchases -H "$json" \
    -H "x-strategy: $1" -H 'x-work-ms: 50' -d '{{"item":"sku-1","quantity":1,"buyer":"b-{{}}"}}' | sort | uniq -c; }}
  crowd none@redis

See how many of 100 were sold, and look into the store yourself:

  curl -sw '\n' $admin/sales/sku-1 -H "$auth"
  {program} redis GET 'stock:{{sku-1}}'
  {program} sql 'select * from store'

Open the sale again, and let the same crowd come to a Lua script:

  curl -sw '\n' -X PUT $admin/sales/sku-1 -H "$auth" -H "$json" -d '{{"stock":100}}'
  crowd lua@redis

And once more; but now one purchase kills its instance before it writes. It comes back:

  curl -sw '\n' -X PUT $admin/sales/sku-1 -H "$auth" -H "$json" -d '{{"stock":100}}'
  curl -s $admin/faults -H "$auth" -H "$json" -d '{{"fault":"crash@write"}}'
  crowd token@redis

Put it on trial:

  {program} run --host $shop{each} --strategy none@redis,lua@redis --repeat 1

All strategies: {program} strategies. All routes: {host}/openapi.json
Ctrl-C stops everything.
"#
    ))
}
