//! A shop that was not started here, and the service for faults that may stand beside its servers.

use std::net::SocketAddr;
use std::sync::Arc;

use anyhow::{Context, Result, bail, ensure};
use reqwest::Url;
use stack::{Faults, RemoteInstances, ServiceUrls};
use tokio::net::lookup_host;

use super::{RunningShop, ShopParts};
use crate::facts::Urls;
use crate::http::BACK_WITHIN;
use crate::shop::instances::Instances;
use crate::shop::{Address, ShopClient};

/// One remote shop.
pub struct Remote {
    /// The shop, with as many instances as answer.
    pub running: RunningShop,
    /// Its stores.
    pub urls: Urls,
    /// The same shop behind a proxy that retries, where there is one.
    pub(super) retrying: Option<RunningShop>,
}

/// The service for faults beside the servers of a shop. It has no `Debug`: it holds a token, and a URL may hold a password.
pub struct FaultService {
    /// Its name and port, such as `faults:7070`.
    pub at: String,
    /// Its token.
    pub token: String,
    /// The base URL of the public listeners of all instances, past the proxy: one name for all.
    pub instances: String,
    /// The URLs of the servers.
    pub services: ServiceUrls,
    /// The URL of a Redis that may become a replica.
    pub spare_redis: Option<String>,
    /// The base URL of a proxy that retries, behind which the service has a relay before each instance.
    pub retrying_proxy: Option<String>,
}

impl Remote {
    /// Connects to a remote shop. It has as many instances as answer at its admin URLs.
    ///
    /// # Errors
    /// When no instance answers, the HTTP client cannot be built, or the service for faults refuses.
    pub async fn connect(at: Address, admins: Vec<String>, urls: Urls, faults: Option<FaultService>) -> Result<Self> {
        let instances = Instances::at(admins, &at.trust)?;
        let count = instances.answering_within(BACK_WITHIN).await;
        if count == 0 {
            bail!("no instance answers at {}: is a shop running there?", instances.urls());
        }
        let retrying_proxy = faults.as_ref().and_then(|faults| faults.retrying_proxy.clone());
        let parts = match faults {
            Some(faults) => Some(parts(&at, count, faults).await?),
            None => None,
        };
        let behind = |host: String| {
            let client = ShopClient::new(Address { host, ..at.clone() })?;
            anyhow::Ok(RunningShop::new(client, count, instances.clone(), parts.clone()))
        };
        Ok(Self {
            running: behind(at.host.clone())?,
            urls,
            retrying: retrying_proxy.map(behind).transpose()?,
        })
    }
}

/// Returns what the service for faults can strike.
async fn parts(at: &Address, count: usize, faults: FaultService) -> Result<ShopParts> {
    let (publics, admins) = (addresses(&faults.instances).await?, addresses(&at.admin).await?);
    let same = |one: &SocketAddr, other: &SocketAddr| one.ip() == other.ip();
    let are_same = publics.len() == count && publics.len() == admins.len();
    ensure!(
        are_same && publics.iter().zip(&admins).all(|(public, admin)| same(public, admin)),
        "{} leads to {} addresses, and {} to {}: {count} instances are expected at both, at the same addresses",
        faults.instances,
        publics.len(),
        at.admin,
        admins.len()
    );
    let retrying_proxy = match &faults.retrying_proxy {
        Some(proxy) => addresses(proxy).await?.first().map(SocketAddr::ip),
        None => None,
    };
    let instances = RemoteInstances {
        publics,
        admins,
        retrying_proxy,
    };
    let host = at.host.clone();
    let connected = tokio::task::spawn_blocking(move || {
        let service = Faults::connect(&faults.at, &faults.token)?;
        anyhow::Ok(ShopParts {
            shop: Arc::new(service.shop(&host, instances, &faults.services)?),
            stores: Arc::new(service.stores(&faults.services, faults.spare_redis.as_deref())?),
        })
    });
    connected.await?
}

/// Returns the addresses behind a base URL, in the same order each time.
async fn addresses(url: &str) -> Result<Vec<SocketAddr>> {
    let parsed: Url = url.parse().with_context(|| format!("{url} is no URL"))?;
    let host = parsed.host_str().with_context(|| format!("{url} names no host"))?;
    let port = parsed.port_or_known_default().unwrap_or(80);
    let found = lookup_host((host, port)).await;
    let mut found: Vec<_> = found.with_context(|| format!("{host} has no address"))?.collect();
    found.sort();
    found.dedup();
    Ok(found)
}
