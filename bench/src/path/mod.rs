//! `oversell bench path`: what a sale costs through the proxy and directly at an instance, beside a no-op on the same
//! route.
//!
//! On one machine the load and the servers share the processors. So the processor time per sale says more than the
//! sales per second, and the ratio to the no-op says more than either.

mod answered;
mod cpu;
mod figures;
pub mod generator;
mod incoming;
mod measure;
mod parameters;
mod table;

use anyhow::{Context, Result, ensure};
use app::stores::sql::CONNECT;
use app::strategies::Entry;
use loadtest::deployment::Deployment;

pub use self::answered::Answered;
pub use self::cpu::CpuUs;
pub use self::figures::Figures;
use self::measure::{Measurement, STOCK};
pub use self::measure::{ROUTES, Route, Shop, ShopEndpoint, request};
pub use self::parameters::{Client, NOOP, Parameters};
pub use self::table::table;
use crate::row::Row;
use crate::setting::Setting;

/// Instances behind the proxy.
const INSTANCES: usize = 2;

/// The threats that a safe strategy must survive: they are part of every usual day.
const SAFE: [&str; 2] = ["crowd", "second-instance"];

/// Whether a strategy with these claims survives a crowd at several instances.
pub fn is_safe(claims: &[impl AsRef<str>]) -> bool {
    SAFE.iter()
        .all(|threat| claims.iter().any(|claim| claim.as_ref() == *threat))
}

/// Measures the named strategies on every route, each time right after the no-op. It leaves out a strategy whose
/// service is missing.
///
/// # Errors
/// When the shop does not start or answer, when an answer is neither sold nor busy, or when no strategy is left.
pub async fn measure(setting: Setting, names: &[String]) -> Result<Vec<Row<Parameters, Figures>>> {
    let repeats = setting.repeat as usize;
    let running = Deployment::Local(Box::new(setting.local)).running(INSTANCES, &[])?;
    let catalogue = running.client.strategies().await?;
    let mut strategies = Vec::new();
    for strategy in catalogue.iter().filter(|strategy| names.contains(&strategy.name)) {
        match &strategy.missing {
            None => strategies.push(strategy.name.as_str()),
            Some(why) => (setting.report)(&format!("without {}: {why}", strategy.name)),
        }
    }
    ensure!(
        !strategies.is_empty(),
        "none of these strategies can run here: a service is missing"
    );
    let shop = Shop::of(&running)?;
    let mut noop = ROUTES.map(|route| Series::new(NOOP, route, None));
    let mut sales: Vec<_> = strategies.iter().map(|strategy| Series::of(strategy)).collect();
    for repeat in 0..repeats {
        let mut items = Vec::new();
        for (number, strategy) in strategies.iter().enumerate() {
            let (done, all) = (repeat * strategies.len() + number, repeats * strategies.len());
            (setting.progress)(done, all, strategy, strategy);
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
        // Not after each sale: closing takes a store some time, which would count for the next measurement.
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

/// Measures the no-op, and right after it the sales.
async fn beside_noop(shop: &Shop, route: Route, strategy: &str, item: &str) -> Result<[Measurement; 2]> {
    let noop = shop.measure(route, ShopEndpoint::Noop, strategy, item).await?;
    ensure!(noop.sold > 0, "the shop did not answer the no-op");
    Ok([noop, shop.measure(route, ShopEndpoint::Purchase, strategy, item).await?])
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

    /// Makes the series of a strategy, one for each route.
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
