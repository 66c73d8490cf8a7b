//! The shop that the options name: our own, started here, or one that runs elsewhere.

use std::collections::HashMap;
use std::sync::Arc;
use std::time::Duration;

use anyhow::{Context, Result};
use app::services::variable;
use loadtest::deployment::{Deployment, FaultService, Local, Remote};
use loadtest::facts::STORES;
use loadtest::sale::Names;
use loadtest::shop::{Address, ShopClient};
use stack::{Parts, ServiceKind, ServiceUrls, ShopOptions, Stores};
use tokio::time::timeout;
use uuid::Uuid;

use crate::exit::Usage;
use crate::options::{FaultServiceOptions, OperatorOptions, RemoteOptions, StackOptions, StoreOptions};
use crate::reachable::{Endpoint, Kind};
use crate::{console, trust};

/// The longest time that a shop may take to open one sale. A server that takes longer is no shop.
const OPENS_WITHIN: Duration = Duration::from_secs(5);

/// The variable with the URL of a Redis that may become a replica.
const SPARE_REDIS: &str = "OVERSELL_REDIS_SPARE_URL";

/// The variable with the base URL of a proxy that retries.
const RETRYING_PROXY: &str = "OVERSELL_RETRYING_PROXY";

/// Starts the stores of our own shop, and the services in `needs`. A service that cannot be started is named on stderr, and
/// the strategies that need it are skipped.
///
/// # Errors
/// When a store cannot be found, fetched, reached or started.
pub async fn local(stack: StackOptions, needs: Vec<&'static str>) -> Result<Local> {
    for endpoint in stores(&stack.stores)? {
        endpoint.check().await?;
    }
    // The start blocks, and a fetch before it blocks for longer.
    tokio::task::spawn_blocking(move || start(&stack, &needs)).await?
}

fn start(stack: &StackOptions, needs: &[&str]) -> Result<Local> {
    let mut stores = Stores::start(&Parts {
        redis_url: stack.stores.redis.clone(),
        sql_url: stack.stores.sql.clone(),
        fetch: !stack.no_fetch,
    })?;
    let admin_token = Uuid::new_v4().simple().to_string();
    let mut env = vec![
        ("OVERSELL_ADMIN_TOKEN".to_owned(), admin_token.clone()),
        ("OVERSELL_LOG".to_owned(), "warn".to_owned()),
    ];
    let mut urls = stack.stores.urls();
    // Every shop is given Redis and MariaDB anyway.
    let further = urls.iter().filter(|(store, _)| !["redis", "sql"].contains(store));
    env.extend(further.map(|(store, url)| (variable(store), url.clone())));
    // A service whose URL is in the environment runs elsewhere: the instances inherit the URL.
    let elsewhere = |need: &str| urls.contains_key(need) || std::env::var_os(variable(need)).is_some();
    let here = needs
        .iter()
        .filter(|need| !["redis", "sql"].contains(need) && !elsewhere(need));
    for need in here {
        match stores.start_service(need, !stack.no_fetch) {
            Ok(urls) => env.push((variable(need), urls.join(" "))),
            Err(error) => console::note(format_args!("without {need}: {error:#}")),
        }
    }
    let kept = stores.services().filter(|(kind, _)| STORES.contains(&kind.name()));
    urls.extend(kept.filter_map(|(kind, at)| Some((kind.name(), at.first()?.clone()))));
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

/// Returns the shop of `--host`, if one is given. The answers at its admin URLs say how many instances it has.
///
/// # Errors
/// When no instance answers, another server answers, or the HTTP client cannot be built.
pub async fn remote(remote: &RemoteOptions, stores: &StoreOptions) -> Result<Option<Deployment>> {
    // The command line demands the other options of a shop where --host is given.
    let (Some(host), Some(admin_token)) = (&remote.host, &remote.operator.admin_token) else {
        return Ok(None);
    };
    if stores.urls().is_empty() {
        let wrong = "--host needs the URL of each store that the shop sells from: --redis, --sql, --pg or --cluster";
        return Err(Usage(wrong.to_owned()).into());
    }
    let faults = fault_service(&remote.faults, stores)?;
    let trust = trust::of(&remote.tls)?;
    let (host, admins) = reachable(host, &remote.operator, stores).await?;
    let at = Address {
        host,
        admin: admins.first().cloned().context("--host needs --admin")?,
        admin_token: admin_token.clone(),
        trust,
    };
    is_a_shop(&ShopClient::new(at.clone())?).await?;
    let remote = Remote::connect(at, admins, stores.urls(), faults).await?;
    Ok(Some(Deployment::Remote(Box::new(remote))))
}

/// Returns the service for faults, if one is given.
fn fault_service(options: &FaultServiceOptions, stores: &StoreOptions) -> Result<Option<FaultService>, Usage> {
    let Some(at) = &options.faults else {
        return Ok(None);
    };
    let (Some(token), Some(instances)) = (&options.faults_token, &options.public) else {
        let wrong = "--faults needs --faults-token and --public, the public listeners of the instances";
        return Err(Usage(wrong.to_owned()));
    };
    Ok(Some(FaultService {
        at: at.clone(),
        token: token.clone(),
        instances: instances.clone(),
        services: service_urls(stores),
        spare_redis: std::env::var(SPARE_REDIS).ok(),
        retrying_proxy: std::env::var(RETRYING_PROXY).ok(),
    }))
}

/// Returns the URLs of the stores that were given, and of the lock services in the environment.
fn service_urls(stores: &StoreOptions) -> ServiceUrls {
    let given = stores.urls();
    let all = ServiceKind::ALL.into_iter().filter_map(|kind| {
        let urls = match given.get(kind.name()) {
            Some(_) if kind == ServiceKind::Cluster => stores.cluster_nodes(),
            Some(url) => vec![url.clone()],
            None => {
                let urls = std::env::var(variable(kind.name())).ok()?;
                urls.split_whitespace().map(str::to_owned).collect()
            }
        };
        Some((kind, urls))
    });
    all.filter(|(_, urls)| !urls.is_empty()).collect()
}

/// Returns the base URLs of a shop and of its admin listeners, when all of them and its stores accept connections.
///
/// # Errors
/// When a URL is wrong or one of them does not accept a connection.
pub async fn reachable(host: &str, operator: &OperatorOptions, stores: &StoreOptions) -> Result<(String, Vec<String>)> {
    let base = |url: &str| url.trim_end_matches('/').to_owned();
    let (host, admins) = (
        base(host),
        operator.admin.iter().map(|url| base(url)).collect::<Vec<_>>(),
    );
    let mut endpoints = vec![Endpoint::parse("--host", Kind::Shop, &host)?];
    for admin in &admins {
        endpoints.push(Endpoint::parse("--admin", Kind::Admin, admin)?);
    }
    endpoints.extend(self::stores(stores)?);
    for endpoint in endpoints {
        endpoint.check().await?;
    }
    Ok((host, admins))
}

/// Returns the stores that run elsewhere.
fn stores(stores: &StoreOptions) -> Result<Vec<Endpoint>> {
    let urls = stores.urls();
    let endpoints = urls.iter().map(|(store, url)| match *store {
        "redis" => Endpoint::parse("--redis", Kind::Redis, url),
        "sql" => Endpoint::parse("--sql", Kind::MariaDb, url),
        "pg" => Endpoint::parse("--pg", Kind::Postgres, url),
        "cluster" => Endpoint::parse("--cluster", Kind::Redis, url),
        _ => Endpoint::parse("--sql-2", Kind::MariaDb, url),
    });
    Ok(endpoints.collect::<Result<_, _>>()?)
}

/// Asks for the catalogue, and opens and closes a sale.
async fn is_a_shop(client: &ShopClient) -> Result<()> {
    let host = "--host leads to no shop; `oversell check HOST` names the first point of the contract that is not met";
    timeout(OPENS_WITHIN, client.strategies())
        .await
        .with_context(|| format!("no answer within {OPENS_WITHIN:?}"))
        .flatten()
        .context(host)?;
    let item = Names::draw().item(0);
    let sale = async {
        client.open_sale(&item, 1).await?;
        client.close_sale(&item).await
    };
    let admin = "--admin does not lead to the admin listener of a shop, or the shop cannot open a sale; \
                 `oversell check HOST --admin ADMIN` shows its answer";
    timeout(OPENS_WITHIN, sale)
        .await
        .with_context(|| format!("no sale could be opened and closed within {OPENS_WITHIN:?}"))
        .flatten()
        .context(admin)
}
