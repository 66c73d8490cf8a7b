//! The instances of the shop, all in this process, each with its own connections.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Duration;

use anyhow::{Context, Result, anyhow};
use app::domain::{Error, Name, Purchase};
use app::probe::{Observer, Observers, Probe, Time};
use app::services::Services;
use app::stores::sql::GET_LOCK;
use app::stores::{Sql, Stock};
use app::strategies::{Catalogue, Entry, Strategy};
use app::timeouts::Timeouts;
use app::world::World;
use sqlx::ConnectOptions;
use sqlx::mysql::MySqlConnectOptions;
use stack::{InstanceRelays, ServiceKind, Stores};

use crate::sessions::SessionsOf;

/// No purchase stops waiting by itself, and no lease ends while the clocks are left alone.
pub const NEVER: Timeouts = Timeouts {
    wait: Duration::from_secs(600),
    lease: Duration::from_secs(300),
};

/// How an instance reaches its stores and lock services.
pub struct Reached<'a> {
    /// The servers.
    pub stores: &'a Stores,
    /// The name under which it comes to MariaDB, which lets in any name, and that of its program for PostgreSQL.
    pub user: &'a str,
    /// Relays before the servers, which can lose a reply.
    pub relays: Option<Arc<InstanceRelays>>,
    /// The strategy. It reaches no service that it does not need.
    pub kind: &'a Kind,
}

/// One instance, with its strategy opened.
pub struct Instance {
    /// Its name.
    pub name: String,
    /// The strategy.
    pub strategy: Arc<dyn Strategy>,
    world: World,
    /// Relays before its stores and lock services, which can lose a reply.
    pub relays: Option<Arc<InstanceRelays>>,
}

impl Instance {
    /// Opens an instance that goes by this time, with `observer` at its seam.
    ///
    /// # Errors
    /// When there is no such strategy, or a store or a service that it needs cannot be reached.
    pub async fn open(
        name: &str,
        strategy: &str,
        reached: Reached<'_>,
        (observer, time): (Arc<dyn Observer>, &Time),
    ) -> Result<Self> {
        let parsed = Name::parse(name).context("the name of an instance")?;
        let observers = Observers::new(vec![observer]).at_time(time.clone());
        let world = World::open(services(&reached)?, parsed, NEVER, observers).await?;
        let catalogue = Catalogue::new();
        let listed = catalogue.find(strategy);
        let listed = listed.with_context(|| format!("there is no strategy {strategy}"))?;
        let strategy = listed.opened(&world).await?.clone();
        Ok(Self {
            name: name.to_owned(),
            strategy,
            world,
            relays: reached.relays,
        })
    }

    /// Returns the stores of stock and orders of a strategy, each once.
    pub async fn stocks(&self, store: &str) -> Result<Vec<Arc<dyn Stock>>> {
        let first = store.split_once('+').map_or(store, |(stock, _)| stock);
        let mut stocks = vec![self.world.stock(first)?];
        if store.contains('+') {
            stocks.push(self.world.orders(store).await?);
        }
        Ok(stocks)
    }

    /// Returns its connections to each MariaDB and to PostgreSQL.
    ///
    /// # Errors
    /// When the second MariaDB cannot be reached.
    pub async fn sql(&self) -> Result<Vec<Arc<Sql>>> {
        let mut all = vec![self.world.store::<Sql>()?];
        for further in [self.world.second_sql().await, self.world.sql(ServiceKind::Pg.name())] {
            match further {
                Ok(further) => all.push(further),
                Err(Error::Missing(_)) => {}
                Err(error) => return Err(error.into()),
            }
        }
        Ok(all)
    }

    /// Returns the probe of a purchase at this instance.
    pub fn probe(&self, purchase: &Purchase) -> Probe {
        Probe::new(purchase, Duration::ZERO, None, self.world.observers.clone())
    }
}

/// Returns what keeps the sessions of a strategy.
fn sessions(entry: &Entry) -> Option<SessionsOf> {
    let needs = |service: ServiceKind| entry.needs.contains(&service.name());
    if entry.steps.iter().any(|step| step.name == GET_LOCK.name) {
        Some(SessionsOf::Sql)
    } else if needs(ServiceKind::Etcd) {
        Some(SessionsOf::Etcd)
    } else if needs(ServiceKind::ZooKeeper) {
        Some(SessionsOf::ZooKeeper)
    } else {
        None
    }
}

/// Returns the URLs of all services, those of relays where there are some.
fn services(reached: &Reached<'_>) -> Result<Services> {
    let Reached {
        stores,
        user,
        relays,
        kind,
    } = reached;
    let services = [
        (ServiceKind::Redis, vec![stores.redis_url().to_owned()]),
        (ServiceKind::Sql, vec![stores.sql_url().to_owned()]),
    ];
    let further = kind.needed(stores).map(|(kind, urls)| (kind, urls.to_vec()));
    let mut reached: BTreeMap<ServiceKind, Vec<String>> = services.into_iter().chain(further).collect();
    for (kind, urls) in relays.iter().flat_map(|relays| relays.urls()) {
        reached
            .entry(kind)
            .and_modify(|at| *at = urls.split_whitespace().map(str::to_owned).collect());
    }
    let mut all = Services::default();
    for (kind, mut urls) in reached {
        if matches!(kind, ServiceKind::Sql | ServiceKind::SecondSql) {
            for url in &mut urls {
                let options: MySqlConnectOptions = url.parse()?;
                *url = options.username(user).to_url_lossy().into();
            }
        }
        if kind == ServiceKind::Pg {
            // It lets in only users that it knows.
            for url in &mut urls {
                *url += &format!("&application_name={user}");
            }
        }
        all = all.with(kind.name(), urls.iter().map(String::as_str));
    }
    Ok(all)
}

/// What the explorer has to know of a strategy.
#[derive(Clone, Debug)]
pub struct Kind {
    /// The store of stock and orders, such as `redis` or `redis+sql`.
    pub store: &'static str,
    /// The services that it needs.
    pub needs: Vec<&'static str>,
    /// Whether background workers look for what its purchases have left.
    pub has_workers: bool,
    /// What keeps the sessions that hold its lock, if there are any.
    pub sessions: Option<SessionsOf>,
    /// Whether its holder asks its own client whether the session lives. The client does not see what the explorer does to it.
    pub asks_its_client: bool,
}

impl Kind {
    /// Returns what is known of a strategy.
    ///
    /// # Errors
    /// When there is no such strategy.
    pub fn of(strategy: &str) -> Result<Self> {
        let catalogue = Catalogue::new();
        let listed = catalogue.find(strategy);
        let entry = &listed.ok_or_else(|| anyhow!("there is no strategy {strategy}"))?.entry;
        Ok(Self {
            store: entry.store,
            needs: entry.needs.clone(),
            has_workers: entry.steps.iter().any(|step| step.looks_for_work),
            sessions: sessions(entry),
            asks_its_client: entry.mechanism.name == "zookeeper-checked",
        })
    }

    /// Returns those of the further services that the strategy needs, with their URLs.
    pub(crate) fn needed<'a>(&'a self, stores: &'a Stores) -> impl Iterator<Item = (ServiceKind, &'a [String])> {
        stores
            .services()
            .filter(|(service, _)| self.needs.contains(&service.name()))
    }
}
