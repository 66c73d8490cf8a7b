//! What a sale costs on its way: through the proxy and straight at an instance, beside a no-op that goes the same way.
//!
//! On one machine everything shares the processors, the load as well: the processor time of a sale says more than how many
//! there were in a second, and the ratio to the no-op says more than either.

mod answered;
mod cpu;
mod figures;
pub mod generator;
mod incoming;
mod measure;
mod table;

use anyhow::{Context, Result, ensure};
use app::stores::sql::CONNECT;
use app::strategies::Entry;
use loadtest::deployment::Deployment;
use serde::Serialize;

pub use self::answered::Answered;
pub use self::cpu::CpuUs;
pub use self::figures::Figures;
use self::measure::Measurement;
use self::measure::STOCK;
pub use self::measure::{Asked, ROUTES, Route, Shop, request};
pub use self::table::table;
use crate::row::Row;
use crate::setting::Setting;

/// Instances behind the proxy.
const INSTANCES: usize = 2;

/// Who survives these sells what there is and no more on a usual day.
const SAFE: [&str; 2] = ["crowd", "second-instance"];

/// What the rows of the no-op are called.
pub const NOOP: &str = "noop";

/// How a purchase of a strategy comes to its store.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Client {
    /// At some step it takes a connection for itself out of a pool.
    Pool,
    /// It never does: all purchases of an instance share their connections.
    Multiplexed,
}

/// Which strategy, by which way.
#[derive(Clone, Debug, Serialize)]
pub struct Parameters {
    /// The strategy, or [`NOOP`].
    pub strategy: String,
    /// Through the proxy or straight at one instance.
    pub route: Route,
    /// How it comes to its store; the no-op does not.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub client: Option<Client>,
}

/// Whether it claims to be safe from a crowd at several instances.
pub fn is_safe(claims: &[impl AsRef<str>]) -> bool {
    SAFE.iter()
        .all(|threat| claims.iter().any(|claim| claim.as_ref() == *threat))
}

/// Measures the strategies of these names by every way, each time right after the no-op. One that cannot be used here, because
/// a service is missing, is left out.
///
/// # Errors
/// When the shop cannot be started or reached, or answers anything but sold and busy, or nothing of these can be used.
pub async fn measure(setting: Setting, names: &[String]) -> Result<Vec<Row<Parameters, Figures>>> {
    let repeats = setting.repeat as usize;
    let running = Deployment::Local(Box::new(setting.local)).running(INSTANCES, &[])?;
    let catalogue = running.client.strategies().await?;
    let mut strategies = Vec::new();
    for strategy in catalogue.iter().filter(|strategy| names.contains(&strategy.name)) {
        match &strategy.missing {
            None => strategies.push(strategy.name.as_str()),
            Some(why) => (setting.says)(&format!("without {}: {why}", strategy.name)),
        }
    }
    ensure!(!strategies.is_empty(), "what these strategies need is not here");
    let shop = Shop::of(&running)?;
    let mut noop = ROUTES.map(|route| Series::new(NOOP, route, None));
    let mut sales: Vec<_> = strategies.iter().map(|strategy| Series::of(strategy)).collect();
    for repeat in 0..repeats {
        let mut items = Vec::new();
        for (number, strategy) in strategies.iter().enumerate() {
            let (done, all) = (repeat * strategies.len() + number, repeats * strategies.len());
            (setting.begins)(done, all, strategy, strategy);
            for (noop, sales) in noop.iter_mut().zip(&mut sales[number]) {
                let item = format!("path-{repeat}-{}", items.len());
                shop.open_sale(&item, STOCK).await?;
                let route = sales.parameters.route;
                let both = beside_noop(&shop, route, strategy, &item).await;
                let [empty, sold] = both.with_context(|| format!("{strategy}, {route:?}"))?;
                noop.runs.push(Figures::of(&empty, &empty));
                sales.runs.push(Figures::of(&sold, &empty));
                items.push(item);
            }
        }
        // Not after each: to forget takes a store a while, and that would be part of what is measured next.
        for item in items {
            shop.close_sale(&item).await?;
        }
    }
    Ok(noop
        .into_iter()
        .chain(sales.into_iter().flatten())
        .map(Series::row)
        .collect())
}

/// The no-op, and right after it the sales.
async fn beside_noop(shop: &Shop, route: Route, strategy: &str, item: &str) -> Result<[Measurement; 2]> {
    let noop = shop.measure(route, Asked::Noop, strategy, item).await?;
    ensure!(noop.sold > 0, "not even the no-op was answered");
    Ok([noop, shop.measure(route, Asked::Purchase, strategy, item).await?])
}

/// The runs of one row.
struct Series {
    parameters: Parameters,
    runs: Vec<Figures>,
}

impl Series {
    fn new(strategy: &str, route: Route, client: Option<Client>) -> Self {
        let strategy = strategy.to_owned();
        let parameters = Parameters {
            strategy,
            route,
            client,
        };
        Self {
            parameters,
            runs: Vec::new(),
        }
    }

    /// Those of a strategy, one for each way.
    fn of(strategy: &str) -> [Self; ROUTES.len()] {
        let entry = Entry::all().into_iter().find(|entry| entry.name == strategy);
        let client = entry.map(|entry| match entry.steps.contains(&CONNECT) {
            true => Client::Pool,
            false => Client::Multiplexed,
        });
        ROUTES.map(|route| Self::new(strategy, route, client))
    }

    fn row(self) -> Row<Parameters, Figures> {
        Row {
            medians: Figures::medians(&self.runs),
            parameters: self.parameters,
            runs: self.runs,
        }
    }
}
