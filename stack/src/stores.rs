//! The two stores of every shop.

use std::collections::BTreeMap;
use std::collections::btree_map::Entry;
use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use anyhow::{Context, Result};

use crate::address;
use crate::folder;
use crate::folder::Folder;
use crate::local_shop::{Shop, StoreAccess};
use crate::locate::locate;
use crate::mariadb;
use crate::redis;
use crate::redis::{AtLimit, Failover, MemoryLimit, RedisReplica};
use crate::relay::InstanceRelays;
use crate::server_kind::ServerKind;
use crate::service::Service;
use crate::service_kind::ServiceKind;
use crate::service_location::ServiceLocation;
use crate::services::{self, Running};
use crate::shop_options::ShopOptions;

/// A cold start takes tenths of a second, and longer on a busy machine.
const START_LIMIT: Duration = Duration::from_secs(30);

/// The stores that run already, and whether a missing one may be fetched. It has no `Debug`: a URL may hold a password.
#[derive(Clone)]
pub struct Parts {
    /// A Redis that runs elsewhere; none is started then.
    pub redis_url: Option<String>,
    /// A MariaDB that runs elsewhere; none is started then.
    pub sql_url: Option<String>,
    /// Whether a missing server may be fetched, see [`locate()`].
    pub fetch: bool,
}

/// Returns the URLs of Redis and MariaDB of each run of this user that is in progress, in any process.
pub fn running() -> Vec<(String, String)> {
    let folders = folder::owned().into_iter();
    let sockets = folders.map(|folder| {
        (
            redis::socket(&folder, redis::NAME),
            mariadb::socket(&folder, mariadb::NAME),
        )
    });
    let both = sockets.filter(|(redis, mariadb)| redis.exists() && mariadb.exists());
    both.map(|(redis, sql)| (address::redis(&redis), address::mysql(&sql, mariadb::DATABASE)))
        .collect()
}

/// Redis and MariaDB, and what further strategies need. Servers that were started here begin empty, and stop and lose their data on
/// drop.
pub struct Stores {
    redis: Option<Service>,
    mariadb: Option<Service>,
    redis_url: String,
    sql_url: String,
    further: BTreeMap<ServiceKind, Running>,
    /// A further Redis that runs elsewhere, until it is needed as a replica.
    spare_redis: Option<Arc<Service>>,
    // Dropped last: the servers above still write there.
    folder: Arc<Folder>,
}

impl Stores {
    /// The private folder of this run.
    pub fn folder(&self) -> &Path {
        self.folder.path()
    }

    /// Starts what has no URL, both at once, and waits until it serves.
    ///
    /// # Errors
    ///
    /// When a server is missing (see [`locate()`]) or does not start; the message holds the end of its log.
    pub fn start(parts: &Parts) -> Result<Stores> {
        let folder = Arc::new(Folder::new()?);
        let find = |kind, url: &Option<String>| url.is_none().then(|| locate(kind, parts.fetch)).transpose();
        let redis_program = find(ServerKind::Redis, &parts.redis_url)?;
        let mariadb_program = find(ServerKind::MariaDb, &parts.sql_url)?;
        let redis = redis_program
            .map(|program| redis::start(&program, folder.path(), redis::NAME))
            .transpose()?;
        let mariadb = mariadb_program
            .map(|program| mariadb::start(&program, folder.path(), mariadb::NAME))
            .transpose()?;
        for service in redis.iter().chain(&mariadb) {
            service
                .wait_ready(START_LIMIT)
                .with_context(|| format!("could not start {}", service.name()))?;
        }
        let redis_url = parts
            .redis_url
            .clone()
            .unwrap_or_else(|| address::redis(&redis::socket(folder.path(), redis::NAME)));
        let sql_url = parts
            .sql_url
            .clone()
            .unwrap_or_else(|| address::mysql(&mariadb::socket(folder.path(), mariadb::NAME), mariadb::DATABASE));
        Ok(Stores {
            redis,
            mariadb,
            redis_url,
            sql_url,
            further: BTreeMap::new(),
            spare_redis: None,
            folder,
        })
    }

    /// Uses servers that run elsewhere, some of which may be struck from here.
    pub(crate) fn elsewhere(
        mut running: BTreeMap<ServiceKind, Running>,
        spare_redis: Option<Service>,
    ) -> Result<Stores> {
        let mut store = |kind| {
            let Running { mut services, urls, .. } = running.remove(&kind).unwrap_or_default();
            (services.pop(), urls.into_iter().next().unwrap_or_default())
        };
        let ((redis, redis_url), (mariadb, sql_url)) = (store(ServiceKind::Redis), store(ServiceKind::Sql));
        Ok(Stores {
            redis,
            mariadb,
            redis_url,
            sql_url,
            further: running,
            spare_redis: spare_redis.map(Arc::new),
            folder: Arc::new(Folder::new()?),
        })
    }

    /// Starts a service that only some strategies need, unless it runs already, and returns its URLs.
    ///
    /// # Errors
    ///
    /// When no service of that name can be started here, its program is missing (see [`locate()`]), or it does not start.
    pub fn start_service(&mut self, name: &str, fetch: bool) -> Result<&[String]> {
        let kind = services::find(name)?;
        let entry = match self.further.entry(kind.of) {
            Entry::Occupied(running) => return Ok(&running.into_mut().urls),
            Entry::Vacant(entry) => entry,
        };
        let running = (kind.start)(fetch, self.folder.path())?;
        for service in &running.services {
            service
                .wait_ready(START_LIMIT)
                .with_context(|| format!("could not start {}", service.name()))?;
        }
        Ok(&entry.insert(running).urls)
    }

    /// Returns the services that [`Stores::start_service`] started, with their URLs.
    pub fn services(&self) -> impl Iterator<Item = (ServiceKind, &[String])> {
        self.further.iter().map(|(kind, running)| (*kind, &*running.urls))
    }

    /// Returns every process of a service; none when it was not started here.
    pub fn processes(&self, kind: ServiceKind) -> &[Service] {
        match kind {
            ServiceKind::Redis => self.redis.as_slice(),
            ServiceKind::Sql => self.mariadb.as_slice(),
            _ => self.further.get(&kind).map_or(&[], |running| &running.services),
        }
    }

    /// Starts a shop on these stores and waits until it serves. Several shops may share them.
    ///
    /// # Errors
    ///
    /// When nginx is missing, the port asked for is taken, or something does not start; see [`ShopOptions`].
    pub fn shop(&self, options: &ShopOptions) -> Result<Shop> {
        let stores = StoreAccess {
            urls: [
                (ServiceKind::Redis, self.redis_url.clone()),
                (ServiceKind::Sql, self.sql_url.clone()),
            ],
            locations: self.locations().collect(),
        };
        Shop::start(options, &stores, &self.folder)
    }

    /// Starts relays for one instance, before every service that was started here and has one process.
    ///
    /// # Errors
    ///
    /// When a relay cannot listen.
    pub fn relays(&self) -> Result<InstanceRelays> {
        let alone = self.locations().filter(|(_, processes)| processes.len() == 1);
        let locations: Vec<_> = alone.collect();
        let kinds: Vec<_> = locations.iter().map(|(kind, _)| *kind).collect();
        InstanceRelays::start(&kinds, &locations, self.folder.path())
    }

    /// Returns where the processes listen of each service that was started here.
    fn locations(&self) -> impl Iterator<Item = (ServiceKind, Vec<ServiceLocation>)> {
        let services = ServiceKind::ALL.into_iter().map(|kind| {
            let processes = self.processes(kind).iter();
            (kind, processes.filter_map(Service::location).collect::<Vec<_>>())
        });
        services.filter(|(_, locations)| !locations.is_empty())
    }

    /// Returns the first URL of a service that was started here, or of a store.
    pub fn url(&self, kind: ServiceKind) -> Option<&str> {
        match kind {
            ServiceKind::Redis => Some(&self.redis_url),
            ServiceKind::Sql => Some(&self.sql_url),
            _ => self.further.get(&kind)?.urls.first().map(String::as_str),
        }
    }

    /// Returns the URL of Redis: `redis+unix:///path`, or the given one.
    pub fn redis_url(&self) -> &str {
        &self.redis_url
    }

    /// Returns the URL of MariaDB: `mysql://root@localhost/oversell?socket=/path`, or the given one.
    pub fn sql_url(&self) -> &str {
        &self.sql_url
    }

    /// Redis, if it was started here.
    pub fn redis(&self) -> Option<&Service> {
        self.redis.as_ref()
    }

    /// Switches the append-only file of Redis on or off, so that a restart brings back everything or nothing. Returns whether it
    /// was on.
    ///
    /// # Errors
    ///
    /// When it was not started here, does not answer, or does not finish within some seconds.
    pub fn keep_redis_on_disk(&self, keeps: bool) -> Result<bool> {
        redis::keep_on_disk(self.own_redis()?, self.folder.path(), keeps)
    }

    /// Lets Redis sync its append-only file once in a second, as it does by default, until it starts again. Without this it syncs
    /// before each answer.
    ///
    /// # Errors
    ///
    /// When it was not started here, or does not answer.
    pub fn sync_redis_every_second(&self) -> Result<()> {
        redis::sync_every_second(self.own_redis()?)
    }

    /// Waits until Redis writes to its append-only file again, after its disk was full.
    ///
    /// # Errors
    ///
    /// When it was not started here, does not answer, or does not write within some seconds.
    pub fn wait_until_redis_writes(&self) -> Result<()> {
        redis::wait_until_written(self.own_redis()?)
    }

    /// Starts a replica of Redis and waits until it has caught up. There can be one at a time.
    ///
    /// # Errors
    ///
    /// When Redis was not started here, or the replica does not start or catch up within some seconds.
    pub fn replicate_redis(&self) -> Result<RedisReplica> {
        let redis = self.own_redis()?;
        match &self.spare_redis {
            Some(spare) => RedisReplica::elsewhere(redis, Arc::clone(spare)),
            None => RedisReplica::start(self.folder.path()),
        }
    }

    /// Kills Redis and lets the promoted replica serve at its address as [`Stores::redis`]. Returns how many bytes of writes
    /// that loses.
    ///
    /// # Errors
    ///
    /// When one of them does not answer, or the promoted one cannot take the place of the other.
    pub fn fail_over_redis(&self, failover: Failover) -> Result<u64> {
        failover.complete(self.own_redis()?)
    }

    /// Returns whether there can be a replica of that store: in a container only of Redis, where a spare one stands beside it.
    pub fn can_replicate(&self, kind: ServiceKind) -> bool {
        let is_spare = kind == ServiceKind::Redis && self.spare_redis.is_some();
        let process = self.processes(kind).first();
        process.is_some_and(|process| is_spare || !process.is_elsewhere())
    }

    /// Sets a limit on the memory of a Redis, until the result is dropped.
    ///
    /// # Errors
    ///
    /// When it does not answer.
    pub fn limit_memory(&self, redis: &Service, at_limit: AtLimit) -> Result<MemoryLimit> {
        MemoryLimit::set(redis, at_limit)
    }

    fn own_redis(&self) -> Result<&Service> {
        self.redis().context("Redis was not started here")
    }

    /// MariaDB, if it was started here.
    pub fn mariadb(&self) -> Option<&Service> {
        self.mariadb.as_ref()
    }
}
