//! One measurement: a sale that cannot sell out, and buyers that buy from it for a while.

use std::net::SocketAddr;
use std::sync::Arc;
use std::time::Duration;

use anyhow::{Context, Result, bail};
use loadtest::deployment::RunningShop;
use loadtest::shop::ShopClient;
use serde::Serialize;
use serde_json::json;
use tokio::task::spawn_blocking;

use super::cpu::{CpuUs, Processes};
use super::generator::{Attack, Load, attack};

/// The stock of a sale: more than the buyers can buy.
pub const STOCK: i64 = 1_000_000_000;

/// How long the buyers buy before the measurement.
const WARM: Duration = Duration::from_millis(200);

/// The length of a measurement.
const MEASURED: Duration = Duration::from_secs(1);

/// The route of a purchase.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Route {
    /// Through the proxy, to all instances.
    Nginx,
    /// Directly to one instance.
    Direct,
}

/// All routes.
pub const ROUTES: [Route; 2] = [Route::Nginx, Route::Direct];

/// The endpoint of a request.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ShopEndpoint {
    /// A purchase.
    Purchase,
    /// The same request without a sale.
    Noop,
}

impl ShopEndpoint {
    fn path(self) -> &'static str {
        match self {
            Self::Purchase => "/purchases",
            Self::Noop => "/noop",
        }
    }
}

#[derive(Clone, Debug)]
pub struct Measurement {
    pub sold: u64,
    /// The number of purchases that were busy.
    pub busy: u64,
    /// The length in seconds.
    pub seconds: f64,
    /// Processor time of the generator, in microseconds.
    pub generator_us: f64,
    /// Processor time of the shop and of each server, in microseconds.
    pub cpu_us: CpuUs,
}

impl Measurement {
    /// Returns the sales per second.
    pub fn sales_per_s(&self) -> f64 {
        self.sold as f64 / self.seconds
    }

    fn of(attack: &Attack<CpuUs>) -> Self {
        let [before, after] = &attack.snapshots;
        let used = after
            .iter()
            .map(|(name, us)| (*name, us - before.get(name).copied().unwrap_or_default()));
        Self {
            sold: attack.answers.sold(),
            busy: attack.answers.busy(),
            seconds: attack.seconds,
            generator_us: attack.generator_us,
            cpu_us: used.collect(),
        }
    }
}

/// A shop that this process started, with its routes and its processes.
pub struct Shop {
    client: ShopClient,
    nginx: SocketAddr,
    direct: SocketAddr,
    processes: Processes,
}

impl Shop {
    /// Wraps a running shop.
    ///
    /// # Errors
    /// When this process did not start the shop.
    pub fn of(running: &RunningShop) -> Result<Self> {
        let ours = running
            .parts()
            .context("the processes of a remote shop cannot be measured")?;
        let (shop, stores) = (&ours.shop, &ours.stores);
        let instances = shop.instances().iter().map(|instance| ("app", instance.pid()));
        let servers = [
            ("nginx", shop.nginx()),
            ("redis", stores.redis()),
            ("sql", stores.mariadb()),
        ];
        let servers = servers
            .into_iter()
            .filter_map(|(name, server)| Some((name, server?.pid())));
        let further = stores.services().map(|(kind, _)| kind);
        let further = further.flat_map(|kind| {
            let processes = stores.processes(kind).iter();
            processes.map(move |process| (kind.name(), process.pid()))
        });
        let direct = shop.publics().into_iter().next().context("the shop has no instances")?;
        Ok(Self {
            client: running.client.clone(),
            nginx: address(&shop.host())?,
            direct: address(&direct)?,
            processes: Processes::new(instances.chain(servers).chain(further).collect()),
        })
    }

    /// Opens a sale.
    ///
    /// # Errors
    /// When the shop refuses or does not answer.
    pub async fn open_sale(&self, item: &str, stock: i64) -> Result<()> {
        self.client.open_sale(item, stock).await
    }

    /// Closes a sale.
    ///
    /// # Errors
    /// As [`Shop::open_sale`].
    pub async fn close_sale(&self, item: &str) -> Result<()> {
        self.client.close_sale(item).await
    }

    /// Buys `item` with `strategy` for a while.
    ///
    /// # Errors
    /// When the shop cannot be reached or its processes cannot be measured.
    pub async fn attack(
        &self,
        route: Route,
        endpoint: ShopEndpoint,
        strategy: &str,
        item: &str,
    ) -> Result<Attack<CpuUs>> {
        let at = match route {
            Route::Nginx => self.nginx,
            Route::Direct => self.direct,
        };
        let load = Load {
            at,
            request: request(endpoint, strategy, item),
            warm: WARM,
            measured: MEASURED,
        };
        let processes = self.processes.clone();
        spawn_blocking(move || attack(&load, || processes.used())).await?
    }

    /// Buys `item` with `strategy` for a while, and returns what that cost.
    ///
    /// # Errors
    /// As [`Shop::attack`], and when an answer is neither sold nor busy.
    pub async fn measure(
        &self,
        route: Route,
        endpoint: ShopEndpoint,
        strategy: &str,
        item: &str,
    ) -> Result<Measurement> {
        let attack = self.attack(route, endpoint, strategy, item).await?;
        if let Some(others) = attack.all_answers.others() {
            let sold = attack.all_answers.sold();
            bail!(
                "{}: beside {sold} sales there were other answers: {others}",
                endpoint.path()
            );
        }
        Ok(Measurement::of(&attack))
    }
}

/// Returns one request as bytes. The no-op differs from the purchase only in its path.
pub fn request(endpoint: ShopEndpoint, strategy: &str, item: &str) -> Arc<[u8]> {
    let body = json!({ "item": item, "quantity": 1, "buyer": "b-1" }).to_string();
    let (path, length) = (endpoint.path(), body.len());
    let text = format!(
        "POST {path} HTTP/1.1\r\nHost: shop\r\nX-Strategy: {strategy}\r\nContent-Type: application/json\r\n\
         Content-Length: {length}\r\n\r\n{body}"
    );
    text.into_bytes().into()
}

fn address(url: &str) -> Result<SocketAddr> {
    let address = url.strip_prefix("http://").unwrap_or(url);
    address
        .parse()
        .with_context(|| format!("{url} is not the address of a local shop"))
}
