//! From options to a shop: our own, started here, or one that runs elsewhere.

use std::collections::HashMap;
use std::sync::Arc;
use std::time::Duration;

use anyhow::{Context, Result};
use app::services::variable;
use loadtest::deployment::{Deployment, Local};
use loadtest::facts::STORES;
use loadtest::shop::{Address, ShopClient};
use stack::{Parts, ShopOptions, Stores};
use tokio::time::timeout;
use uuid::Uuid;

use crate::options::{ForeignOptions, StackOptions};
use crate::reachable::{Kind, Place};
use crate::say;

/// How long a shop may take to open one sale before it is taken for something else.
const OPENS_WITHIN: Duration = Duration::from_secs(5);

/// Starts the stores of a shop of our own, and of `needs` what can be started: what cannot is said aside, and the
/// strategies that need it are skipped.
///
/// # Errors
/// When a store cannot be found, fetched, reached or started.
pub async fn local(stack: StackOptions, needs: Vec<&'static str>) -> Result<Local> {
    for place in stores(&stack)? {
        place.check().await?;
    }
    // It blocks while they start, and longer when they have to be fetched first.
    tokio::task::spawn_blocking(move || start(&stack, &needs)).await?
}

fn start(stack: &StackOptions, needs: &[&str]) -> Result<Local> {
    let mut stores = Stores::start(&Parts {
        redis_url: stack.redis.clone(),
        sql_url: stack.sql.clone(),
        fetch: !stack.no_fetch,
    })?;
    let admin_token = Uuid::new_v4().simple().to_string();
    let mut env = vec![
        ("OVERSELL_ADMIN_TOKEN".to_owned(), admin_token.clone()),
        ("OVERSELL_LOG".to_owned(), "warn".to_owned()),
    ];
    let mut urls = stack.urls();
    // The two that every shop has are given to it anyway.
    let further = urls.iter().filter(|(store, _)| !["redis", "sql"].contains(store));
    env.extend(further.map(|(store, url)| (variable(store), url.clone())));
    // One whose URL is in the environment runs elsewhere: the instances inherit it.
    let elsewhere = |need: &str| urls.contains_key(need) || std::env::var_os(variable(need)).is_some();
    let here = needs
        .iter()
        .filter(|need| !["redis", "sql"].contains(need) && !elsewhere(need));
    for need in here {
        match stores.start_service(need, !stack.no_fetch) {
            Ok(urls) => env.push((variable(need), urls.join(" "))),
            Err(error) => say::aside(format_args!("without {need}: {error:#}")),
        }
    }
    let kept = stores.services().filter(|(name, _)| STORES.contains(name));
    urls.extend(kept.filter_map(|(name, at)| Some((name, at.first()?.clone()))));
    urls.insert("redis", stores.redis_url().to_owned());
    urls.insert("sql", stores.sql_url().to_owned());
    let options = ShopOptions {
        program: std::env::current_exe().context("this program cannot find its own file")?,
        args: vec!["serve".to_owned(), "--lab".to_owned()],
        env,
        instances: 1,
        fetch: !stack.no_fetch,
        port: None,
        relays: Vec::new(),
        retrying: false,
    };
    Ok(Local {
        stores: Arc::new(stores),
        options,
        urls,
        admin_token,
        running: HashMap::new(),
    })
}

/// The shop of `--host`, if one is given. Its instances are counted by who answers at its admin URLs.
///
/// # Errors
/// When nobody does, what answers is no shop, or the HTTP client cannot be built.
pub async fn remote(remote: &ForeignOptions, stack: &StackOptions) -> Result<Option<Deployment>> {
    let base = |url: &String| url.trim_end_matches('/').to_owned();
    let admins: Vec<String> = remote.admin.iter().map(base).collect();
    // Whoever gives --host has to give the others, too; the command line sees to that.
    let (Some(host), Some(admin), Some(admin_token)) = (
        remote.host.as_ref().map(base),
        admins.first().cloned(),
        remote.admin_token.clone(),
    ) else {
        return Ok(None);
    };
    let mut places = vec![Place::parse("--host", Kind::Http, &host)?];
    for admin in &admins {
        places.push(Place::parse("--admin", Kind::Http, admin)?);
    }
    places.extend(stores(stack)?);
    for place in places {
        place.check().await?;
    }
    let at = Address {
        host,
        admin,
        admin_token,
    };
    is_a_shop(&ShopClient::new(at.clone())?).await?;
    Ok(Some(Deployment::remote(at, admins, stack.urls()).await?))
}

/// The stores that run elsewhere.
fn stores(stack: &StackOptions) -> Result<Vec<Place>> {
    let urls = stack.urls();
    let places = urls.iter().map(|(store, url)| match *store {
        "redis" => Place::parse("--redis", Kind::Redis, url),
        "sql" => Place::parse("--sql", Kind::MariaDb, url),
        _ => Place::parse("--sql-2", Kind::MariaDb, url),
    });
    Ok(places.collect::<Result<_, _>>()?)
}

/// Asks for the catalogue, and opens and closes a sale.
async fn is_a_shop(client: &ShopClient) -> Result<()> {
    let host = "--host leads to no shop; `curl -i HOST/strategies` shows what answers there";
    timeout(OPENS_WITHIN, client.strategies())
        .await
        .with_context(|| format!("no answer within {OPENS_WITHIN:?}"))
        .flatten()
        .context(host)?;
    let item = format!("hello-{}", Uuid::new_v4().simple());
    let sale = async {
        client.open_sale(&item, 1).await?;
        client.close_sale(&item).await
    };
    let admin = "--admin does not lead to the admin listener of a shop, or the shop has trouble; what it answers is shown \
                 by `curl -i -X PUT ADMIN/sales/hand-1 -d '{\"stock\":1}' -H 'Content-Type: application/json' \
                 -H 'Authorization: Bearer TOKEN'`";
    timeout(OPENS_WITHIN, sale)
        .await
        .with_context(|| format!("no sale could be opened and closed within {OPENS_WITHIN:?}"))
        .flatten()
        .context(admin)
}
