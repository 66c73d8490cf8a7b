//! One measurement: a sale that nobody can buy empty, and a crowd that buys from it for a while.

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

/// Units of a sale: more than can be sold.
pub const STOCK: i64 = 1_000_000_000;

/// How long is bought before anything is measured.
const WARM: Duration = Duration::from_millis(200);

/// How long each measurement takes.
const MEASURED: Duration = Duration::from_secs(1);

/// Which way a purchase takes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Route {
    /// Through the proxy, to all instances.
    Nginx,
    /// Straight to one of them.
    Direct,
}

/// All ways.
pub const ROUTES: [Route; 2] = [Route::Nginx, Route::Direct];

/// What is asked for at the end of the way.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Asked {
    /// A purchase.
    Purchase,
    /// The same without the sale.
    Noop,
}

impl Asked {
    fn path(self) -> &'static str {
        match self {
            Self::Purchase => "/purchases",
            Self::Noop => "/noop",
        }
    }
}

/// What was measured.
#[derive(Clone, Debug)]
pub struct Measurement {
    /// Sales.
    pub sold: u64,
    /// Purchases that were told to come again.
    pub busy: u64,
    /// How long, in seconds.
    pub seconds: f64,
    /// Processor time of the generator, in microseconds.
    pub generator_us: f64,
    /// Processor time of the shop and of each server.
    pub cpu_us: CpuUs,
}

impl Measurement {
    /// Sales in a second.
    pub fn sales_per_s(&self) -> f64 {
        self.sold as f64 / self.seconds
    }

    fn of(attack: &Attack<CpuUs>) -> Self {
        let [before, after] = &attack.looks;
        let used = after
            .iter()
            .map(|(name, us)| (*name, us - before.get(name).copied().unwrap_or_default()));
        Self {
            sold: attack.answered.sold(),
            busy: attack.answered.busy(),
            seconds: attack.seconds,
            generator_us: attack.generator_us,
            cpu_us: used.collect(),
        }
    }
}

/// A shop that was started here, with the ways to it and the processes that it is made of.
pub struct Shop {
    client: ShopClient,
    nginx: SocketAddr,
    direct: SocketAddr,
    processes: Processes,
}

impl Shop {
    /// The shop that runs there.
    ///
    /// # Errors
    /// When it was not started here.
    pub fn of(running: &RunningShop) -> Result<Self> {
        let ours = running
            .local_processes()
            .context("the processes of a shop that runs elsewhere cannot be measured")?;
        let (shop, stores) = (&ours.shop, &ours.stores);
        let instances = shop.instances().iter().map(|instance| ("app", instance.pid()));
        let servers = [
            ("nginx", Some(shop.nginx())),
            ("redis", stores.redis()),
            ("sql", stores.mariadb()),
        ];
        let servers = servers
            .into_iter()
            .filter_map(|(name, server)| Some((name, server?.pid())));
        let further = stores.services().map(|(name, _)| name);
        let further = further.flat_map(|name| stores.processes(name).iter().map(move |process| (name, process.pid())));
        let direct = shop.publics().into_iter().next().context("a shop without instances")?;
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

    /// Forgets a sale.
    ///
    /// # Errors
    /// As [`Shop::open_sale`].
    pub async fn close_sale(&self, item: &str) -> Result<()> {
        self.client.close_sale(item).await
    }

    /// Buys `item` by `strategy` for a while.
    ///
    /// # Errors
    /// When the shop cannot be reached or its processes cannot be measured.
    pub async fn attack(&self, route: Route, asked: Asked, strategy: &str, item: &str) -> Result<Attack<CpuUs>> {
        let at = match route {
            Route::Nginx => self.nginx,
            Route::Direct => self.direct,
        };
        let load = Load {
            at,
            request: request(asked, strategy, item),
            warm: WARM,
            measured: MEASURED,
        };
        let processes = self.processes.clone();
        spawn_blocking(move || attack(&load, || processes.used())).await?
    }

    /// Buys `item` by `strategy` for a while, and says what that cost.
    ///
    /// # Errors
    /// As [`Shop::attack`], and when an answer is neither a sale nor busy.
    pub async fn measure(&self, route: Route, asked: Asked, strategy: &str, item: &str) -> Result<Measurement> {
        let attack = self.attack(route, asked, strategy, item).await?;
        if let Some(others) = attack.answered_in_all.others() {
            let sold = attack.answered_in_all.sold();
            bail!(
                "{} answers beside {sold} sales have other statuses: {others}",
                asked.path()
            );
        }
        Ok(Measurement::of(&attack))
    }
}

/// One request as bytes. The no-op is asked for in the same words as the purchase.
pub fn request(asked: Asked, strategy: &str, item: &str) -> Arc<[u8]> {
    let body = json!({ "item": item, "quantity": 1, "buyer": "b-1" }).to_string();
    let (path, length) = (asked.path(), body.len());
    let text = format!(
        "POST {path} HTTP/1.1\r\nHost: shop\r\nX-Strategy: {strategy}\r\nContent-Type: application/json\r\n\
         Content-Length: {length}\r\n\r\n{body}"
    );
    text.into_bytes().into()
}

fn address(url: &str) -> Result<SocketAddr> {
    let place = url.strip_prefix("http://").unwrap_or(url);
    place
        .parse()
        .with_context(|| format!("{url} is no address of a shop that was started here"))
}
