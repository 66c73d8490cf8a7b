//! The stores and the instances of a shop in containers, as far as faults can strike them.

use std::collections::BTreeMap;
use std::net::{IpAddr, SocketAddr};

use anyhow::Result;

use super::remote::Libraries;
use super::{Faults, INSTANCE, RemoteJournal, RemoteNumbers, RemoteProcess, RemoteRelay};
use crate::clock::Clock;
use crate::disk::Disk;
use crate::local_shop::Shop;
use crate::ready::Ready;
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

/// The servers and instances that can be killed, those that have a clock of their own, those whose disk can be full, and those that can
/// keep a journal of what they do not sync.
struct Abilities {
    servers: Vec<String>,
    clocks: Vec<String>,
    disks: Vec<String>,
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
        let abilities = self.abilities()?;
        let known = &abilities.servers;
        let running = urls.iter().map(|(kind, urls)| {
            let servers = servers(*kind, urls.len());
            let is_known = servers.iter().all(|server| known.contains(server));
            let found = servers.iter().zip(urls).filter(|_| is_known);
            let services = found.map(|(server, url)| {
                let ready = Ready::Elsewhere(ServerElsewhere::at(kind.program(), url));
                self.service(server, server, ready, &abilities)
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
            let ready = Ready::Elsewhere(ServerElsewhere::at(ServerKind::Redis, url));
            self.service(SPARE_REDIS, SPARE_REDIS, ready, &abilities)
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
        let processes = self.instances(&instances.publics)?;
        Ok(Shop::elsewhere(host.to_owned(), instances, processes, relays, before))
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

    /// Returns the instances at these addresses; none if one of them does not run under the script. One that kills itself stays ended
    /// until it is started, like an instance on this machine.
    fn instances(&self, publics: &[SocketAddr]) -> Result<Vec<Service>> {
        let abilities = self.abilities()?;
        let addresses: Vec<String> = publics.iter().map(|public| public.ip().to_string()).collect();
        if !addresses.iter().all(|address| abilities.servers.contains(address)) {
            return Ok(Vec::new());
        }
        let named = addresses.iter().zip(publics).zip(1..);
        let services = named.map(|((address, public), nth)| {
            let process = self.process(address, &abilities)?;
            process.keep_ended()?;
            let name = format!("{INSTANCE}{nth}");
            Ok(Service::elsewhere(name, process, Ready::Http(*public)))
        });
        services.collect()
    }

    /// Returns the service of that name, which the service for faults knows as `server`.
    fn service(&self, name: &str, server: &str, ready: Ready, abilities: &Abilities) -> Result<Service> {
        Ok(Service::elsewhere(name, self.process(server, abilities)?, ready))
    }

    /// Returns the process of a server or an instance.
    fn process(&self, server: &str, abilities: &Abilities) -> Result<RemoteProcess> {
        let is_among = |servers: &[String]| servers.iter().any(|able| able == server);
        let numbers = |what| RemoteNumbers::new(self, what, server);
        let libraries = Libraries {
            clock: is_among(&abilities.clocks).then(|| Clock::elsewhere(numbers("clock"))),
            disk: is_among(&abilities.disks).then(|| Disk::elsewhere(numbers("disk"))),
            unsynced: is_among(&abilities.journals).then(|| Unsynced::elsewhere(RemoteJournal::new(self, server))),
        };
        RemoteProcess::of(self, server, libraries)
    }

    fn abilities(&self) -> Result<Abilities> {
        Ok(Abilities {
            servers: self.names("servers")?,
            clocks: self.names("clocks")?,
            disks: self.names("disks")?,
            journals: self.names("journals")?,
        })
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
