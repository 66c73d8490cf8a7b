//! Compares a shop with the contract, `docs/contract.md`, point by point, in the order in which a shop is built.

mod requests;
mod sale;

use std::fmt;

use anyhow::Result;

use crate::facts::{LedgerReader, Urls};
use crate::shop::catalogue::{self, Strategy};
use crate::shop::instances::Instances;
use crate::shop::{Address, MAX_CATALOGUE};
use crate::threats;
use crate::trust::Trust;

pub use self::requests::{Purchase, Received, Requests};

/// A point of the contract that the shop does not meet.
#[derive(Debug)]
pub struct NotMet {
    /// The point.
    pub point: String,
    /// The response or the ledger.
    pub seen: String,
    /// The next thing to build.
    pub build: String,
}

/// A shop that is compared with the contract.
pub struct Checked<'a> {
    /// Base URL of the public listener.
    pub host: &'a str,
    /// Base URLs of the admin listeners. A shop without one has none yet.
    pub admins: &'a [String],
    /// The bearer token of the admin listeners.
    pub admin_token: Option<&'a str>,
    /// The certificates that are trusted.
    pub trust: &'a Trust,
    /// The stores. A shop without one has none yet.
    pub urls: &'a Urls,
}

impl NotMet {
    fn new(point: impl Into<String>, seen: impl fmt::Display, build: impl Into<String>) -> Self {
        Self {
            point: point.into(),
            seen: format!("{seen:#}"),
            build: build.into(),
        }
    }
}

/// Goes through the contract and calls `met` for each point that the shop meets.
///
/// # Errors
/// Returns the first point that the shop does not meet.
pub async fn check(shop: &Checked<'_>, mut met: impl FnMut(&str)) -> Result<(), NotMet> {
    let requests = Requests::to(Address {
        host: shop.host.to_owned(),
        admin: shop.admins.first().cloned().unwrap_or_default(),
        admin_token: shop.admin_token.unwrap_or_default().to_owned(),
        trust: shop.trust.clone(),
    });
    let requests =
        requests.map_err(|error| NotMet::new("an HTTP client", error, "nothing: this is a fault of the program"))?;
    let reader = reader(shop).await?;
    met(&format!("these stores can be read: {}", names(shop.urls)));
    let instances = admins(shop).await?;
    met(&format!("admin listeners that answer: {instances}"));
    sale::guarded(&requests).await?;
    met("PUT /sales/ITEM is refused without the token");
    ready(&requests).await?;
    met("GET /readyz says that the shop is ready");
    let catalogue = catalogue(&requests).await?;
    met(&format!("strategies in GET /strategies: {}", catalogue.len()));
    can_read_one(shop, &catalogue)?;
    for strategy in &catalogue {
        let stores = [strategy.store.stock, strategy.store.orders];
        let unread = stores.iter().find(|store| !shop.urls.contains_key(*store));
        match (&strategy.missing, unread) {
            (Some(why), _) => met(&format!("{} is skipped: {why}", strategy.name)),
            (None, Some(store)) => met(&format!("{} is skipped: --{store} is not given", strategy.name)),
            (None, None) => {
                sale::sells(&requests, &reader, strategy).await?;
                met(&format!(
                    "{} opens, sells, repeats, refuses and closes a sale",
                    strategy.name
                ));
            }
        }
    }
    Ok(())
}

async fn catalogue(requests: &Requests) -> Result<Vec<Strategy>, NotMet> {
    const POINT: &str = "GET /strategies answers 200 with the catalogue";
    const BUILD: &str =
        r#"answer 200 with a JSON array: [{"name":"mine@redis","store":"redis","summary":"...","claims":[]}]"#;
    let received = requests.get("/strategies", MAX_CATALOGUE).await;
    let received = received.map_err(|error| NotMet::new(POINT, error, BUILD))?;
    if received.status != 200 {
        return Err(NotMet::new(POINT, received.shown(), BUILD));
    }
    let catalogue = catalogue::parse(&received.body).and_then(|catalogue| {
        threats::check_claims(&catalogue)?;
        Ok(catalogue)
    });
    catalogue.map_err(|error| NotMet::new(POINT, error, BUILD))
}

async fn ready(requests: &Requests) -> Result<(), NotMet> {
    const POINT: &str = "GET /readyz answers 2xx while the shop can sell";
    const BUILD: &str = "answer 200 when this instance reaches its stores, and 503 when it does not";
    match requests.get("/readyz", MAX_CATALOGUE).await {
        Ok(received) if received.status.is_success() => Ok(()),
        Ok(received) => Err(NotMet::new(POINT, received.shown(), BUILD)),
        Err(error) => Err(NotMet::new(POINT, error, BUILD)),
    }
}

async fn admins(shop: &Checked<'_>) -> Result<usize, NotMet> {
    const POINT: &str = "each instance has an admin listener and a bearer token";
    const BUILD: &str = "listen on a second port, which no proxy reaches, and give --admin URL and --admin-token TOKEN";
    let missing = |what: &str| NotMet::new(POINT, format!("{what} is not given"), BUILD);
    if shop.admins.is_empty() {
        return Err(missing("--admin"));
    }
    shop.admin_token.ok_or_else(|| missing("--admin-token"))?;
    let instances = Instances::at(shop.admins.to_vec(), shop.trust);
    let instances = instances.map_err(|error| NotMet::new(POINT, error, BUILD))?;
    match instances.answering().await {
        0 => Err(NotMet::new(
            POINT,
            format!("nothing answers at {}", instances.urls()),
            BUILD,
        )),
        instances => Ok(instances),
    }
}

async fn reader(shop: &Checked<'_>) -> Result<LedgerReader, NotMet> {
    const POINT: &str = "the stores can be read";
    const BUILD: &str = "give --redis, --sql or both, with an account that may read";
    if shop.urls.is_empty() {
        return Err(NotMet::new(POINT, "no store is given", BUILD));
    }
    let reader = LedgerReader::connect(shop.urls).await;
    reader.map_err(|error| NotMet::new(POINT, error, BUILD))
}

/// Checks that the ledger of at least one strategy can be read.
fn can_read_one(shop: &Checked<'_>, catalogue: &[Strategy]) -> Result<(), NotMet> {
    let is_read = |strategy: &Strategy| {
        let stores = [strategy.store.stock, strategy.store.orders];
        strategy.missing.is_none() && stores.iter().all(|store| shop.urls.contains_key(store))
    };
    if catalogue.iter().any(is_read) {
        return Ok(());
    }
    let mut stores: Vec<_> = catalogue.iter().map(|strategy| strategy.store.to_string()).collect();
    stores.sort_unstable();
    stores.dedup();
    let seen = format!(
        "the strategies sell from {}; given: {}",
        stores.join(", "),
        names(shop.urls)
    );
    let point = "a strategy can be used, and its store is given";
    Err(NotMet::new(point, seen, "give the URL of that store: --redis or --sql"))
}

fn names(urls: &Urls) -> String {
    let names: Vec<_> = urls.keys().copied().collect();
    if names.is_empty() {
        "none".to_owned()
    } else {
        names.join(", ")
    }
}
