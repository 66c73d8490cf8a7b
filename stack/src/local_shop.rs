//! The instances of a shop and the nginx before them.

use std::net::SocketAddr;
use std::sync::Arc;
use std::time::Duration;

use anyhow::{Context, Result, ensure};
use tempfile::TempDir;

use crate::clock::Clock;
use crate::faults::RemoteInstances;
use crate::folder::Folder;
use crate::instance;
use crate::instance::Ports;
use crate::locate::locate;
use crate::nginx;
use crate::nginx::Upstream;
use crate::ports::{ReservedPorts, require_free};
use crate::program::Program;
use crate::relay::{InstanceRelays, Relay};
use crate::server_kind::ServerKind;
use crate::service::Service;
use crate::service_kind::ServiceKind;
use crate::service_location::ServiceLocation;
use crate::shop_options::ShopOptions;

const START_LIMIT: Duration = Duration::from_secs(30);
/// Another process may take a port between the search and the start. That is rare; a third failure in a row has another cause.
const ATTEMPTS: usize = 3;

/// How the instances reach their stores. It has no `Debug`: a URL may hold a password.
pub(crate) struct StoreAccess {
    pub(crate) urls: [(ServiceKind, String); 2],
    /// Where the processes listen of each service that was started here.
    pub(crate) locations: Vec<(ServiceKind, Vec<ServiceLocation>)>,
}

/// A shop whose instances and nginx serve. What was started here stops on drop.
pub struct Shop {
    nginx: Option<Service>,
    /// Those that were started here, or run elsewhere and can be struck.
    instances: Vec<Service>,
    /// Those of each instance.
    relays: Vec<InstanceRelays>,
    /// Between a retrying proxy and each instance.
    before: Vec<Relay>,
    host: String,
    publics: Vec<SocketAddr>,
    admins: Vec<SocketAddr>,
    // Dropped last.
    _room: Option<Room>,
}

/// Where a shop that was started here has its ports and files.
struct Room {
    _ports: ReservedPorts,
    // Dropped in this order: the stores may be gone already and leave their folder to this.
    _content: TempDir,
    _folder: Arc<Folder>,
}

impl Shop {
    pub(crate) fn start(options: &ShopOptions, stores: &StoreAccess, folder: &Arc<Folder>) -> Result<Shop> {
        ensure!(options.instances > 0, "a shop needs at least one instance");
        if let Some(port) = options.asked_port() {
            require_free(port)?;
        }
        let nginx = locate(ServerKind::Nginx, options.fetch)?;
        let mut attempt = 1;
        loop {
            match Shop::try_start(options, &nginx, stores, folder) {
                // A requested port is not replaced by another one.
                Err(error) if attempt < ATTEMPTS && lost_a_port(&error) => attempt += 1,
                result => return result,
            }
        }
    }

    fn try_start(options: &ShopOptions, nginx: &Program, stores: &StoreAccess, folder: &Arc<Folder>) -> Result<Shop> {
        let content = tempfile::Builder::new()
            .prefix("shop-")
            .tempdir_in(folder.path())
            .with_context(|| format!("could not create a folder in {}", folder.path().display()))?;
        let reserved = ReservedPorts::new(2 * options.instances + 1)?;
        let ports = reserved.all();
        let (spare, found) = ports
            .split_first()
            .expect("one more port than twice the instances was asked for");
        let front = options.asked_port().unwrap_or(*spare);
        let addresses: Vec<Ports> = found.chunks_exact(2).map(|pair| Ports::new(pair[0], pair[1])).collect();
        let relays = addresses
            .iter()
            .map(|_| InstanceRelays::start(&options.relays, &stores.locations, folder.path()));
        let relays = relays.collect::<Result<Vec<_>>>()?;
        let started = addresses.iter().zip(&relays).zip(1..);
        let instances = started
            .map(|((&ports, relays), number)| {
                let urls = stores.urls.iter().cloned().chain(relays.urls());
                instance::start(options, number, ports, urls, content.path())
            })
            .collect::<Result<Vec<_>>>()?;
        let publics: Vec<SocketAddr> = addresses.iter().map(|ports| ports.public).collect();
        let between = publics.iter().filter(|_| options.retrying);
        let before = between
            .map(|public| Relay::start(content.path(), *public))
            .collect::<Result<Vec<_>>>()?;
        let upstream = if options.retrying {
            Upstream::Retrying(before.iter().filter_map(|relay| relay.at().port()).collect())
        } else {
            Upstream::Instances(publics.clone())
        };
        let nginx = nginx::start(nginx, content.path(), front, &upstream)?;
        for service in instances.iter().chain([&nginx]) {
            service
                .wait_ready(START_LIMIT)
                .with_context(|| format!("could not start {}", service.name()))?;
        }
        let admins = addresses.iter().map(|ports| ports.admin).collect();
        Ok(Shop {
            nginx: Some(nginx),
            instances,
            relays,
            before,
            host: format!("http://127.0.0.1:{front}"),
            publics,
            admins,
            _room: Some(Room {
                _ports: reserved,
                _content: content,
                _folder: Arc::clone(folder),
            }),
        })
    }

    /// A shop that was started elsewhere, with the processes of its instances, of all or of none, the relays of each instance, and those
    /// before the instances.
    pub(crate) fn elsewhere(
        host: String,
        instances: RemoteInstances,
        processes: Vec<Service>,
        relays: Vec<InstanceRelays>,
        before: Vec<Relay>,
    ) -> Shop {
        let RemoteInstances { publics, admins, .. } = instances;
        Shop {
            nginx: None,
            instances: processes,
            relays,
            before,
            host,
            publics,
            admins,
            _room: None,
        }
    }

    /// Returns the public URL, such as `http://127.0.0.1:port`.
    pub fn host(&self) -> String {
        self.host.clone()
    }

    /// Returns the public listener of every instance, past the proxy, in the order of [`Shop::instances`].
    pub fn publics(&self) -> Vec<String> {
        self.publics.iter().map(|public| format!("http://{public}")).collect()
    }

    /// Returns the admin listener of every instance, in the order of [`Shop::instances`].
    pub fn admins(&self) -> Vec<String> {
        self.admins.iter().map(|admin| format!("http://{admin}")).collect()
    }

    /// The instances `app-1`, `app-2` and so on; of a shop that was started elsewhere `instance-1` and so on, if they can be struck.
    pub fn instances(&self) -> &[Service] {
        &self.instances
    }

    /// Returns the clocks of the instances, in the order of [`Shop::publics`]; none where they read that of the machine.
    pub fn clocks(&self) -> impl Iterator<Item = &Clock> {
        self.instances.iter().filter_map(Service::clock)
    }

    /// Returns the relays before the processes of that service, those of the first instance first.
    pub fn relays(&self, before: ServiceKind) -> impl Iterator<Item = &Relay> {
        self.relays.iter().flat_map(move |relays| relays.before(before))
    }

    /// Returns the relays between one instance, counted from 0 in the order of [`Shop::publics`], and the processes of that
    /// service, in the order of [`Stores::processes`](crate::Stores::processes).
    pub fn relays_of(&self, instance: usize, before: ServiceKind) -> &[Relay] {
        self.relays.get(instance).map_or(&[], |relays| relays.before(before))
    }

    /// The relays between a retrying proxy and each instance, in the order of [`Shop::instances`].
    pub fn relays_before(&self) -> &[Relay] {
        &self.before
    }

    /// Makes every relay pass everything.
    pub fn pass_all(&self) {
        for relay in self.relays.iter().flat_map(InstanceRelays::all).chain(&self.before) {
            relay.pass();
        }
    }

    /// Returns for how many instances there are relays.
    pub fn relayed_instances(&self) -> usize {
        self.relays.len()
    }

    /// The proxy before the instances, if it was started here.
    pub fn nginx(&self) -> Option<&Service> {
        self.nginx.as_ref()
    }

    /// Makes every instance serve again: starts those that have ended, or are about to, and returns their names.
    ///
    /// # Errors
    ///
    /// When one does not come back or is paused; the message holds the end of its log.
    pub fn revive(&self) -> Result<Vec<String>> {
        let mut revived = Vec::new();
        for instance in &self.instances {
            // Buyers see a crash a moment before the process has ended, so the state of the process is not enough.
            let served = instance.wait_ready(START_LIMIT);
            if instance.has_exited() {
                instance.restart()?;
                instance
                    .wait_ready(START_LIMIT)
                    .with_context(|| format!("could not revive {}", instance.name()))?;
                revived.push(instance.name().to_owned());
            } else {
                served?;
            }
        }
        Ok(revived)
    }
}

/// Looks into the error, which holds the log of a program that did not get its port.
fn lost_a_port(error: &anyhow::Error) -> bool {
    format!("{error:#}").contains("Address already in use")
}
