//! The stores and the instances of a shop in containers, as far as faults can strike them.

use std::collections::BTreeMap;
use std::net::{IpAddr, SocketAddr};

use anyhow::Result;

use super::{Faults, INSTANCE, RemoteClock, RemoteJournal, RemoteProcess, RemoteRelay};
use crate::clock::Clock;
use crate::local_shop::Shop;
use crate::relay::{InstanceRelays, Relay};
use crate::server_elsewhere::ServerElsewhere;
use crate::server_kind::ServerKind;
use crate::service::Service;
use crate::service_kind::ServiceKind;
use crate::service_location::ServiceLocation;
use crate::services::Running;
use crate::stores::Stores;
use crate::unsynced::Unsynced;

/// The name of a Redis that nobody uses, until it is a replica.
const SPARE_REDIS: &str = "redis-spare";

/// The URLs of each service that a shop uses, one for each of its processes.
pub type ServiceUrls = BTreeMap<ServiceKind, Vec<String>>;

/// The instances of a shop in containers. They connect to the relays from the same addresses.
#[derive(Clone, Debug)]
pub struct RemoteInstances {
    /// Their public listeners, past every proxy.
    pub publics: Vec<SocketAddr>,
    /// Their admin listeners, in the same order.
    pub admins: Vec<SocketAddr>,
    /// A proxy that retries, with a relay before each instance.
    pub retrying_proxy: Option<IpAddr>,
}

/// The servers that have a clock of their own, and those that can keep a journal of what they do not sync.
struct Abilities {
    clocks: Vec<String>,
    journals: Vec<String>,
}

impl Faults {
    /// Returns the stores and lock services with these URLs. Those that the service for faults can kill have their processes. A spare
    /// Redis is used as a replica.
    ///
    /// # Errors
    ///
    /// When the service does not answer, or a server does not run.
    pub fn stores(&self, urls: &ServiceUrls, spare_redis: Option<&str>) -> Result<Stores> {
        let known = self.names("servers")?;
        let abilities = Abilities {
            clocks: self.names("clocks")?,
            journals: self.names("journals")?,
        };
        let running = urls.iter().map(|(kind, urls)| {
            let servers = servers(*kind, urls.len());
            let is_known = servers.iter().all(|server| known.contains(server));
            let found = servers.iter().zip(urls).filter(|_| is_known);
            let services = found.map(|(server, url)| {
                let process = self.process(server, &abilities)?;
                Ok(Service::elsewhere(
                    server,
                    process,
                    ServerElsewhere::at(kind.program(), url),
                ))
            });
            let running = Running {
                services: services.collect::<Result<_>>()?,
                urls: urls.clone(),
                ..Running::default()
            };
            Ok((*kind, running))
        });
        let spare_redis = spare_redis.filter(|_| known.iter().any(|server| server == SPARE_REDIS));
        let spare_redis = spare_redis.map(|url| {
            let process = self.process(SPARE_REDIS, &abilities)?;
            let server = ServerElsewhere::at(ServerKind::Redis, url);
            anyhow::Ok(Service::elsewhere(SPARE_REDIS, process, server))
        });
        Stores::elsewhere(running.collect::<Result<_>>()?, spare_redis.transpose()?)
    }

    /// Returns the shop behind `host`, with the relays before the services with these URLs, and those before its instances.
    ///
    /// # Errors
    ///
    /// When the service does not answer.
    pub fn shop(&self, host: &str, instances: RemoteInstances, urls: &ServiceUrls) -> Result<Shop> {
        let known = self.names("relays")?;
        let relays = instances.publics.iter().map(|public| {
            let services = urls.iter().map(|(kind, urls)| (*kind, servers(*kind, urls.len())));
            let relayed = services.filter(|(_, servers)| servers.iter().all(|server| known.contains(server)));
            let relays = relayed.map(|(kind, servers)| {
                let relays = servers.iter().map(|server| {
                    let relay = RemoteRelay::new(self, server, public.ip());
                    Relay::elsewhere(ServiceLocation::Name(server.clone()), relay)
                });
                (kind, relays.collect())
            });
            InstanceRelays::elsewhere(relays.collect())
        });
        let relays = relays.collect();
        let before = match instances.retrying_proxy {
            Some(proxy) => self.relays_before(&instances.publics, proxy, &known)?,
            None => Vec::new(),
        };
        let known = self.names("clocks")?;
        let addresses = instances.publics.iter().map(|public| public.ip().to_string());
        let clocks: Option<Vec<_>> = addresses.map(|address| self.clock(&address, &known)).collect();
        Ok(Shop::elsewhere(
            host.to_owned(),
            instances,
            relays,
            before,
            clocks.unwrap_or_default(),
        ))
    }

    /// Directs the relays behind a proxy to the instances; none if there are not as many of both.
    fn relays_before(&self, publics: &[SocketAddr], proxy: IpAddr, known: &[String]) -> Result<Vec<Relay>> {
        if known.iter().filter(|relay| relay.starts_with(INSTANCE)).count() != publics.len() {
            return Ok(Vec::new());
        }
        let relays = (1..).zip(publics).map(|(nth, public)| {
            let name = format!("{INSTANCE}{nth}");
            self.ask(&format!("forward {name} {public}"))?;
            let relay = RemoteRelay::new(self, &name, proxy);
            Ok(Relay::elsewhere(ServiceLocation::Name(name), relay))
        });
        relays.collect()
    }

    fn process(&self, server: &str, abilities: &Abilities) -> Result<RemoteProcess> {
        let keeps_journal = abilities.journals.iter().any(|keeper| keeper == server);
        let unsynced = keeps_journal.then(|| Unsynced::elsewhere(RemoteJournal::new(self, server)));
        RemoteProcess::of(self, server, self.clock(server, &abilities.clocks), unsynced)
    }

    /// Returns the clock of a server, or of the instance with that address; none if it is not among those that are known.
    fn clock(&self, owner: &str, known: &[String]) -> Option<Clock> {
        let is_known = known.iter().any(|known| known == owner);
        is_known.then(|| Clock::elsewhere(RemoteClock::new(self, owner)))
    }

    fn names(&self, request: &str) -> Result<Vec<String>> {
        let names = self.ask(request)?;
        Ok(names.split_whitespace().map(str::to_owned).collect())
    }
}

/// Returns the names of the servers of a service of so many processes: `redis`, or `redis-nodes-1` and so on.
fn servers(kind: ServiceKind, count: usize) -> Vec<String> {
    (1..=count)
        .map(|nth| kind.process(nth, count).replace('/', "-"))
        .collect()
}
